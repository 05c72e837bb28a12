// SPDX-License-Identifier: Apache-2.0

// Package openapi holds the definitions that build.sh generates from the Go types
// of k8s.io/api: group installation, kubectl's validation and server-side apply need them.
package openapi
