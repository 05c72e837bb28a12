// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	aggregated "k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"

	"informer.test/apiserver/openapi"
)

// How long the watch cache keeps events; upstream refuses less.
const eventsHistory = 75 * time.Second

// server is everything of one run.
type server struct {
	options *options
	url     string
	etcd    *etcd
	config  *genericapiserver.Config
	generic *genericapiserver.GenericAPIServer
	crds    *apiextensions.CustomResourceDefinitions
	stores  map[*resource]*store
	churn   *churn
	journal journal
	spread  int          // loaded pods that were given a node
	plain   net.Listener // without TLS; or nil
	sent    atomic.Int64 // bytes on all connections, TLS and HTTP with them
}

// newServer is ready to run; etcd runs already.
func newServer(o *options, dir string) (*server, error) {
	e, err := startEtcd(dir)
	if err != nil {
		return nil, err
	}
	if err := e.advance(context.Background(), o.startRV); err != nil {
		return nil, err
	}
	s := &server{options: o, etcd: e, stores: map[*resource]*store{}, config: genericapiserver.NewConfig(codecs)}
	if err := s.configure(dir); err != nil {
		return nil, err
	}
	if s.crds, err = s.newCRDs(); err != nil {
		return nil, err
	}
	if s.generic, err = s.config.Complete(nil).New("apiserver", s.crds.GenericAPIServer); err != nil {
		return nil, err
	}
	for _, gv := range groupVersions {
		if err := s.install(gv); err != nil {
			return nil, err
		}
	}
	if o.rbac != "" {
		if err := s.installReviews(); err != nil {
			return nil, err
		}
	}
	s.churn = newChurn(s.stores[pods])
	s.addControl()
	s.generic.AddPostStartHookOrDie("announce-crds", s.announceCRDs)
	s.generic.AddPostStartHookOrDie("objects", s.addObjects)
	if s.plain != nil {
		s.generic.AddPostStartHookOrDie("plain", s.servePlain)
	}
	return s, nil
}

// listen opens the port: for TLS, or without it, and then one for the server's own
// requests beside it.
func (s *server) listen() (net.Listener, error) {
	tcp, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(s.options.port))
	if err != nil {
		return nil, err
	}
	listener := countedListener{tcp, &s.sent}
	s.url = "https://" + listener.Addr().String()
	if s.options.plain {
		s.url, s.plain = "http://"+listener.Addr().String(), listener
		return net.Listen("tcp", "127.0.0.1:0")
	}
	return listener, nil
}

// countedListener counts what is sent on its connections.
type countedListener struct {
	net.Listener
	sent *atomic.Int64
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConn{c, l.sent}, err
}

type countedConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

// servePlain lets everybody in as the one user.
func (s *server) servePlain(hook genericapiserver.PostStartHookContext) error {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+s.options.token)
		s.generic.Handler.ServeHTTP(w, r)
	})
	go func() { _ = (&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}).Serve(s.plain) }()
	return nil
}

func (s *server) configure(dir string) error {
	listener, err := s.listen()
	if err != nil {
		return err
	}
	c := s.config
	port := listener.Addr().(*net.TCPAddr).Port
	c.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	c.MinRequestTimeout = s.options.minRequest
	c.ExternalAddress = listener.Addr().String()
	c.ShutdownDelayDuration, c.RequestTimeout = 0, 60*time.Second

	serving := serveroptions.NewSecureServingOptions().WithLoopback()
	serving.BindAddress, serving.BindPort, serving.Listener = net.IPv4(127, 0, 0, 1), port, listener
	serving.ServerCert.CertDirectory, serving.ServerCert.PairName = filepath.Join(dir, "certs"), "apiserver"
	serving.ServerCert.CertKey = serveroptions.CertKey{CertFile: s.options.certFile, KeyFile: s.options.keyFile}
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{serving.BindAddress}); err != nil {
		return err
	}
	if err := serving.ApplyTo(&c.SecureServing, &c.LoopbackClientConfig); err != nil {
		return err
	}
	if err := writeKubeconfig(s.options.kubeconfig, s.url, serving.ServerCert.CertKey.CertFile, s.options.token); err != nil {
		return err
	}

	if err := s.admit(c); err != nil {
		return err
	}
	c.BuildHandlerChainFunc = func(h http.Handler, c *genericapiserver.Config) http.Handler {
		return s.journal.around(genericapiserver.DefaultBuildHandlerChain(h, c), c.RequestInfoResolver)
	}
	c.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis") // one for both servers

	namer := apiopenapi.NewDefinitionNamer(scheme)
	c.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	c.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	c.OpenAPIConfig.Info.Title, c.OpenAPIV3Config.Info.Title = "apiserver", "apiserver"
	return s.storage(corev1.SchemeGroupVersion).ApplyTo(c)
}

// storage says how objects of a group are kept: as a cluster does, in protobuf.
func (s *server) storage(gv schema.GroupVersion) *serveroptions.EtcdOptions {
	internal := schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal}
	codec := codecs.CodecForVersions(protobuf.NewSerializer(scheme, scheme), codecs.UniversalDeserializer(), gv, internal)
	backend := storagebackend.NewDefaultConfig("/registry", codec)
	backend.EncodeVersioner = runtime.NewMultiGroupVersioner(gv, schema.GroupKind{Group: gv.Group})
	backend.Transport.ServerList = []string{s.etcd.endpoint}
	backend.CompactionInterval, backend.EventsHistoryWindow = s.options.compactInterval, eventsHistory
	o := serveroptions.NewEtcdOptions(backend)
	o.DefaultStorageMediaType = runtime.ContentTypeProtobuf
	o.EnableWatchCache = !s.options.noWatchCache
	return o
}

// install adds one group with the resources that the table has of it.
func (s *server) install(gv schema.GroupVersion) error {
	info := genericapiserver.NewDefaultAPIGroupInfo(gv.Group, scheme, runtime.NewParameterCodec(scheme), codecs)
	o := s.storage(gv)
	o.SkipHealthEndpoints = true // once is enough
	getter := o.CreateRESTOptionsGetter(&serveroptions.SimpleStorageFactory{StorageConfig: o.StorageConfig}, nil)
	served := map[string]rest.Storage{}
	for _, r := range resources {
		if r.gv != gv {
			continue
		}
		st, err := newStore(r, s.options, getter)
		if err != nil {
			return err
		}
		s.stores[r] = st
		served[r.plural] = st
		if r.status {
			served[r.plural+"/status"] = st.status
		}
		if r == deployments {
			served[r.plural+"/scale"] = &scaleStore{st.Store}
		}
	}
	info.VersionedResourcesStorageMap[gv.Version] = served
	if gv.Group == "" {
		return s.generic.InstallLegacyAPIGroup("/api", &info)
	}
	return s.generic.InstallAPIGroup(&info)
}
