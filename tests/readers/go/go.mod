module informer.test/readers

go 1.24.0

require informer v0.0.0

require golang.org/x/sys v0.40.0

replace informer => ../../../reader-lib/go
