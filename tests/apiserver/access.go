// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	authgroup "k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	requestunion "k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	authenticationinstall "k8s.io/kubernetes/pkg/apis/authentication/install"
	authorizationinstall "k8s.io/kubernetes/pkg/apis/authorization/install"
	"k8s.io/kubernetes/pkg/registry/authentication/tokenreview"
	"k8s.io/kubernetes/pkg/registry/authorization/selfsubjectaccessreview"
	"k8s.io/kubernetes/pkg/registry/authorization/subjectaccessreview"
	rbacvalidation "k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// Who a token without an audience of its own is for.
const apiAudience = "https://kubernetes.default.svc"

// admit says who may what: without --rbac the one user, everything.
func (s *server) admit(c *genericapiserver.Config) error {
	admin := &user.DefaultInfo{Name: "admin", UID: "admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}
	one := tokenfile.New(map[string]*user.DefaultInfo{s.options.token: admin})
	c.Authentication.Authenticator = bearertoken.New(one)
	c.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	if s.options.rbac == "" {
		return nil
	}
	authenticationinstall.Install(scheme)
	authorizationinstall.Install(scheme)
	audiences := authenticator.Audiences{apiAudience}
	tokens := []authenticator.Token{authenticator.WrapAudienceAgnosticToken(audiences, one)}
	for _, file := range s.options.tokenFiles {
		of, named := audiences, file
		if audience, rest, found := strings.Cut(file, "="); found {
			of, named = authenticator.Audiences{audience}, rest
		}
		some, err := tokenfile.NewCSV(named)
		if err != nil {
			return err
		}
		tokens = append(tokens, authenticator.WrapAudienceAgnosticToken(of, some))
	}
	if _, err := readRoles(s.options.rbac); err != nil {
		return err
	}
	c.Authentication.APIAudiences = audiences
	bearer := bearertoken.New(tokenunion.New(tokens...))
	c.Authentication.Authenticator = requestunion.NewFailOnError(authgroup.NewAuthenticatedGroupAdder(bearer), anonymous.NewAuthenticator(nil))
	c.Authorization.Authorizer = union.New(authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup),
		authorizer.AuthorizerFunc(s.byRoles))
	return nil
}

// byRoles is upstream's RBAC over the file as it is now: what is taken away in it, is.
func (s *server) byRoles(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	roles, err := readRoles(s.options.rbac)
	if err != nil {
		return authorizer.DecisionNoOpinion, "", err
	}
	return rbac.New(roles, roles, roles, roles).Authorize(ctx, a)
}

// readRoles takes a JSON list of ClusterRoles, Roles and their bindings.
func readRoles(file string) (*rbacvalidation.StaticRoles, error) {
	var list struct{ Items []json.RawMessage }
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var roles []*rbacv1.Role
	var bindings []*rbacv1.RoleBinding
	var clusterRoles []*rbacv1.ClusterRole
	var clusterBindings []*rbacv1.ClusterRoleBinding
	for _, item := range list.Items {
		var of outline
		if err = json.Unmarshal(item, &of); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		switch of.Kind {
		case "Role":
			roles = append(roles, &rbacv1.Role{})
			err = json.Unmarshal(item, roles[len(roles)-1])
		case "RoleBinding":
			bindings = append(bindings, &rbacv1.RoleBinding{})
			err = json.Unmarshal(item, bindings[len(bindings)-1])
		case "ClusterRole":
			clusterRoles = append(clusterRoles, &rbacv1.ClusterRole{})
			err = json.Unmarshal(item, clusterRoles[len(clusterRoles)-1])
		case "ClusterRoleBinding":
			clusterBindings = append(clusterBindings, &rbacv1.ClusterRoleBinding{})
			err = json.Unmarshal(item, clusterBindings[len(clusterBindings)-1])
		default:
			err = fmt.Errorf("kind %q is none of RBAC's", of.Kind)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	_, all := rbacvalidation.NewTestRuleResolver(roles, bindings, clusterRoles, clusterBindings)
	return all, nil
}

// installReviews serves TokenReviews, SubjectAccessReviews and SelfSubjectAccessReviews: upstream's own.
func (s *server) installReviews() error {
	may := s.config.Authorization.Authorizer
	for _, of := range []struct {
		gv     schema.GroupVersion
		served map[string]rest.Storage
	}{
		{authenticationv1.SchemeGroupVersion, map[string]rest.Storage{
			"tokenreviews": tokenreview.NewREST(s.config.Authentication.Authenticator, s.config.Authentication.APIAudiences)}},
		{authorizationv1.SchemeGroupVersion, map[string]rest.Storage{
			"subjectaccessreviews":     subjectaccessreview.NewREST(may),
			"selfsubjectaccessreviews": selfsubjectaccessreview.NewREST(may)}},
	} {
		info := genericapiserver.NewDefaultAPIGroupInfo(of.gv.Group, scheme, runtime.NewParameterCodec(scheme), codecs)
		info.PrioritizedVersions = []schema.GroupVersion{of.gv}
		info.VersionedResourcesStorageMap[of.gv.Version] = of.served
		if err := s.generic.InstallAPIGroup(&info); err != nil {
			return err
		}
	}
	return nil
}
