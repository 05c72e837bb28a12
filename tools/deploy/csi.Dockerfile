# SPDX-License-Identifier: Apache-2.0
# informer-csi alone, for the overlay with-csi: it is privileged, so the image has nothing else. From the top of the sources:
#
#   docker build -f tools/deploy/csi.Dockerfile -t informer-csi .
FROM golang:1.26-trixie AS build
WORKDIR /src
COPY . .
RUN make csi

FROM scratch
LABEL org.opencontainers.image.title="informer-csi" \
	org.opencontainers.image.description="informerd's socket as a volume for Pods that may not use hostPath" \
	org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /src/build/informer-csi /informer-csi
ENTRYPOINT ["/informer-csi"]
