module informer.example/go-agent

go 1.24.0

require informer v0.0.0

require golang.org/x/sys v0.40.0 // indirect

replace informer => ../../../reader-lib/go
