// SPDX-License-Identifier: Apache-2.0

//go:build informer

package main

import _ "informer/coredns"
