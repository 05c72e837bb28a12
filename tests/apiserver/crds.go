// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	crdoptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	crdopenapi "k8s.io/apiextensions-apiserver/pkg/controller/openapiv3"
	definitions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/common"
)

// newCRDs is upstream's server of CustomResourceDefinitions and of what they
// define. It stands behind ours: what is not found there is asked of it.
func (s *server) newCRDs() (*apiextensions.CustomResourceDefinitions, error) {
	o := s.storage(apiextensionsv1.SchemeGroupVersion)
	o.StorageConfig.Codec = apiextensions.Codecs.LegacyCodec(apiextensionsv1.SchemeGroupVersion)
	o.StorageConfig.EncodeVersioner = runtime.NewMultiGroupVersioner(apiextensionsv1.SchemeGroupVersion)
	o.DefaultStorageMediaType = runtime.ContentTypeJSON
	o.SkipHealthEndpoints = true

	generic := *s.config
	generic.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	generic.MergedResourceConfig = apiextensions.DefaultAPIResourceConfigSource()
	generic.RESTOptionsGetter = o.CreateRESTOptionsGetter(&serveroptions.SimpleStorageFactory{StorageConfig: o.StorageConfig}, nil)
	all := func(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
		return definitions.GetOpenAPIDefinitions(ref)
	}
	generic.OpenAPIConfig = nil
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(all, apiopenapi.NewDefinitionNamer(apiextensions.Scheme))
	config := apiextensions.Config{
		GenericConfig: &genericapiserver.RecommendedConfig{Config: generic},
		ExtraConfig: apiextensions.ExtraConfig{
			CRDRESTOptionsGetter: crdoptions.NewCRDRESTOptionsGetter(*o, nil, nil),
			MasterCount:          1,
			ServiceResolver:      webhook.NewDefaultServiceResolver(),
			AuthResolverWrapper:  webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, generic.LoopbackClientConfig, nil),
		},
	}
	return config.Complete().New(genericapiserver.NewEmptyDelegate())
}

// announceCRDs tells of defined groups where a cluster's aggregator would: in the
// plain list of groups, and in the index of OpenAPI.
func (s *server) announceCRDs(hook genericapiserver.PostStartHookContext) error {
	definitions := s.crds.Informers.Apiextensions().V1().CustomResourceDefinitions()
	tell := func(any) { s.tellGroups(definitions.Informer().GetStore().List()) }
	_, err := definitions.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: tell, UpdateFunc: func(_, to any) { tell(to) }, DeleteFunc: tell,
	})
	tell(nil)
	if s.generic.OpenAPIV3VersionedService != nil {
		go crdopenapi.NewController(definitions).Run(s.generic.OpenAPIV3VersionedService, hook.Done())
	}
	return err
}

func (s *server) tellGroups(all []any) {
	groups := map[string]metav1.APIGroup{apiextensionsv1.GroupName: group(apiextensionsv1.GroupName, "v1")}
	for _, o := range all {
		d := o.(*apiextensionsv1.CustomResourceDefinition)
		for _, v := range d.Spec.Versions {
			if !v.Served {
				continue
			}
			g, known := groups[d.Spec.Group]
			if !known {
				g = group(d.Spec.Group)
			}
			g.Versions = append(g.Versions, group(d.Spec.Group, v.Name).Versions...)
			g.PreferredVersion = g.Versions[0]
			groups[d.Spec.Group] = g
		}
	}
	known, err := s.generic.DiscoveryGroupManager.Groups(context.Background(), &http.Request{})
	if err != nil {
		return
	}
	for _, g := range known {
		if _, stays := groups[g.Name]; !stays && !s.ours(g.Name) {
			s.generic.DiscoveryGroupManager.RemoveGroup(g.Name)
		}
	}
	for _, g := range groups {
		s.generic.DiscoveryGroupManager.AddGroup(g)
	}
}

func (s *server) ours(name string) bool {
	for _, gv := range groupVersions {
		if gv.Group == name {
			return true
		}
	}
	return false
}

func group(name string, versions ...string) (g metav1.APIGroup) {
	g.Name = name
	for _, v := range versions {
		of := metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + v, Version: v}
		g.Versions, g.PreferredVersion = append(g.Versions, of), of
	}
	return g
}
