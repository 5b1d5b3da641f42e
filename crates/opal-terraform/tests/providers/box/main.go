// A provider for tests, with a directory as its cloud: box_thing is identified by its name,
// box_net only by a number that the cloud gives out, so it is found by its tags.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var cloud string

func main() {
	serve := func() provider.Provider { return &box{} }
	options := providerserver.ServeOpts{Address: "opal.example/test/box", ProtocolVersion: 6}
	if err := providerserver.Serve(context.Background(), serve, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type box struct{}

func (*box) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "box"
}

func (*box) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerschema.Schema{Attributes: map[string]providerschema.Attribute{
		"directory": providerschema.StringAttribute{Required: true},
		"folder":    providerschema.StringAttribute{Optional: true, DeprecationMessage: "Use directory instead."},
	}}
}

func (*box) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("directory"), &cloud)...)
	// Tests count the processes of a configuration.
	starts, err := os.OpenFile(filepath.Join(cloud, "starts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(starts, os.Getpid())
		starts.Close()
	}
	pause("configure")
}

func (*box) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &found{} },
		func() datasource.DataSource { return &owner{} },
		func() datasource.DataSource { return &script{} },
	}
}

func (*box) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		func() resource.Resource { return &thing{kind: "thing", key: "name"} },
		func() resource.Resource { return &thing{kind: "net", key: "id"} },
		func() resource.Resource { return &shape{} },
	}
}

func (*box) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return &nets{} }}
}

// A test that has made a file of this name finds the process in the middle of the call, once.
func pause(call string) {
	if os.Rename(filepath.Join(cloud, "pause-"+call), filepath.Join(cloud, "pausing")) == nil {
		pid := fmt.Sprintf("%d\n", os.Getpid())
		os.WriteFile(filepath.Join(cloud, "pausing"), []byte(pid), 0o600)
		os.Rename(filepath.Join(cloud, "pausing"), filepath.Join(cloud, "paused"))
		select {}
	}
}

type model struct {
	ID     types.String `tfsdk:"id"`
	Name   types.String `tfsdk:"name"`
	Color  types.String `tfsdk:"color"`
	Size   types.String `tfsdk:"size"`
	Zone   types.String `tfsdk:"zone"`
	Secret types.String `tfsdk:"secret"`
	Weight types.Int64  `tfsdk:"weight"`
	Tags   types.Map    `tfsdk:"tags"`
}

// What the cloud knows. It gives no secret back.
type stored struct {
	ID, Name, Color, Size, Zone string
	Weight                      *int64
	Tags                        map[string]string
}

type thing struct{ kind, key string }

func (t *thing) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + t.kind
}

func (t *thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":     schema.StringAttribute{Computed: true, PlanModifiers: keep},
		"name":   schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
		"color":  schema.StringAttribute{Optional: true},
		"size":   schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("small")},
		"zone":   schema.StringAttribute{Optional: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
		"secret": schema.StringAttribute{Optional: true, Sensitive: true},
		"weight": schema.Int64Attribute{Optional: true},
		"tags":   schema.MapAttribute{Optional: true, ElementType: types.StringType},
	}}
}

func (t *thing) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		t.key: identityschema.StringAttribute{RequiredForImport: true},
	}}
}

func (t *thing) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	pause("import")
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root(t.key), path.Root(t.key), req, resp)
}

func (t *thing) ModifyPlan(context.Context, resource.ModifyPlanRequest, *resource.ModifyPlanResponse) {
	pause("plan")
}

func (t *thing) value(m model) string {
	if t.key == "name" {
		return m.Name.ValueString()
	}
	return m.ID.ValueString()
}

func (t *thing) file(key string) string {
	return filepath.Join(cloud, t.kind+"-"+strings.ReplaceAll(key, "/", "_")+".json")
}

func (t *thing) write(ctx context.Context, m *model) error {
	if m.ID.IsUnknown() || m.ID.IsNull() {
		// The directory hands out numbers.
		for number := 1; ; number++ {
			file, err := os.OpenFile(filepath.Join(cloud, fmt.Sprintf("number-%d", number)), os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				file.Close()
				m.ID = types.StringValue(fmt.Sprintf("%s-%d", t.kind, number))
				break
			}
			if !os.IsExist(err) {
				return err
			}
		}
	}
	it := stored{m.ID.ValueString(), m.Name.ValueString(), m.Color.ValueString(), m.Size.ValueString(), m.Zone.ValueString(), m.Weight.ValueInt64Pointer(), map[string]string{}}
	m.Tags.ElementsAs(ctx, &it.Tags, false)
	bytes, err := json.Marshal(it)
	if err != nil {
		return err
	}
	return os.WriteFile(t.file(t.value(*m)), bytes, 0o600)
}

func read(ctx context.Context, file string, m *model) error {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var it stored
	if err := json.Unmarshal(bytes, &it); err != nil {
		return err
	}
	m.ID, m.Name, m.Size = types.StringValue(it.ID), types.StringValue(it.Name), types.StringValue(it.Size)
	m.Color = types.StringNull()
	if it.Color != "" {
		m.Color = types.StringValue(it.Color)
	}
	m.Zone = types.StringNull()
	if it.Zone != "" {
		m.Zone = types.StringValue(it.Zone)
	}
	m.Weight = types.Int64PointerValue(it.Weight)
	m.Tags = types.MapNull(types.StringType)
	if len(it.Tags) > 0 {
		m.Tags, _ = types.MapValueFrom(ctx, types.StringType, it.Tags)
	}
	return nil
}

func (t *thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	pause("create")
	if _, err := os.Stat(t.file(t.value(m))); err == nil {
		resp.Diagnostics.AddError("already exists", t.value(m))
		return
	}
	if err := t.write(ctx, &m); err != nil {
		resp.Diagnostics.AddError("cannot create", err.Error())
		return
	}
	pause("created")
	switch m.Name.ValueString() {
	case "crash-created":
		os.Exit(3)
	case "hang-created":
		select {}
	case "twin":
		// Somebody else creates the same at the same time.
		other := m
		other.ID = types.StringUnknown()
		if err := t.write(ctx, &other); err != nil {
			resp.Diagnostics.AddError("cannot create", err.Error())
		}
	case "wait-created":
		// It ends only when it is asked to stop.
		os.WriteFile(filepath.Join(cloud, "waiting"), nil, 0o600)
		<-ctx.Done()
		resp.Diagnostics.AddError("stopped half-way", m.Secret.ValueString())
	case "half-created":
		resp.Diagnostics.AddError("half of it failed", m.Secret.ValueString())
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root(t.key), t.value(m))...)
}

// Some names make the provider misbehave.
func misbehave(m *model) {
	switch m.Name.ValueString() {
	case "hang":
		select {}
	case "talk":
		println("said by the provider")
	case "crash":
		// The library takes os.Stderr for itself.
		println("last words")
		os.Exit(3)
	case "crash-once":
		if _, err := os.Stat(filepath.Join(cloud, "crashed")); err != nil {
			os.WriteFile(filepath.Join(cloud, "crashed"), nil, 0o600)
			os.Exit(3)
		}
	case "huge":
		m.Color = types.StringValue(strings.Repeat("x", 17<<20))
	}
}

func (t *thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	misbehave(&m)
	pause("read")
	if m.Name.ValueString() == "huge" {
		m.ID, m.Size = types.StringValue("huge"), types.StringValue("huge")
		resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
		resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root(t.key), t.value(m))...)
		return
	}
	// The library wants it of what is gone, too.
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root(t.key), t.value(m))...)
	err := read(ctx, t.file(t.value(m)), &m)
	if os.IsNotExist(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("cannot read", err.Error())
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (t *thing) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if err := t.write(ctx, &m); err != nil {
		resp.Diagnostics.AddError("cannot update", err.Error())
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root(t.key), t.value(m))...)
}

func (t *thing) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if err := os.Remove(t.file(t.value(m))); err != nil {
		resp.Diagnostics.AddError("cannot delete", err.Error())
	}
}

// The ids of networks with a tag, as a data source.
type found struct{}

func (*found) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_nets"
}

func (*found) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = dataschema.Schema{Attributes: map[string]dataschema.Attribute{
		"tag": dataschema.StringAttribute{Required: true},
		"ids": dataschema.ListAttribute{Computed: true, ElementType: types.StringType},
		"key": dataschema.StringAttribute{Computed: true, Sensitive: true},
	}}
}

func (*found) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var tag string
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("tag"), &tag)...)
	files, _ := filepath.Glob(filepath.Join(cloud, "net-*.json"))
	sort.Strings(files)
	ids := []string{}
	for _, file := range files {
		var m model
		if read(ctx, file, &m) == nil {
			tags := map[string]string{}
			m.Tags.ElementsAs(ctx, &tags, false)
			if tags["opal"] == tag {
				ids = append(ids, m.ID.ValueString())
			}
		}
	}
	if tag == "shop/none" && len(ids) == 0 {
		resp.Diagnostics.AddError("no matching network found", "")
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("tag"), tag)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("ids"), ids)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("key"), "canary-key")...)
}

// Whose cloud it is, as a data source.
type owner struct{}

func (*owner) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_owner"
}

func (*owner) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = dataschema.Schema{Attributes: map[string]dataschema.Attribute{
		"account_id": dataschema.StringAttribute{Computed: true},
		"serial":     dataschema.NumberAttribute{Computed: true},
	}}
}

func (*owner) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	bytes, err := os.ReadFile(filepath.Join(cloud, "owner"))
	if err != nil {
		resp.Diagnostics.AddError("nobody owns this cloud", err.Error())
		return
	}
	account := strings.TrimSpace(string(bytes))
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("account_id"), account)...)
	// A number that no machine has a type for.
	if digits, err := os.ReadFile(filepath.Join(cloud, "serial")); err == nil {
		serial, _, err := big.ParseFloat(strings.TrimSpace(string(digits)), 10, 512, big.ToNearestEven)
		if err != nil {
			resp.Diagnostics.AddError("not a number", err.Error())
			return
		}
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("serial"), serial)...)
	}
}

// A data source that is known to act: it has the name of one that runs programs.
type script struct{}

func (*script) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "shell_script"
}

func (*script) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = dataschema.Schema{Attributes: map[string]dataschema.Attribute{
		"output": dataschema.StringAttribute{Computed: true},
	}}
}

func (*script) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if err := os.WriteFile(filepath.Join(cloud, "acted"), nil, 0o600); err != nil {
		resp.Diagnostics.AddError("cannot act", err.Error())
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("output"), "green")...)
}

type nets struct{}

func (*nets) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_net"
}

func (*nets) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{}
}

func (*nets) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	files, _ := filepath.Glob(filepath.Join(cloud, "net-*.json"))
	sort.Strings(files)
	stream.Results = func(push func(list.ListResult) bool) {
		for _, file := range files {
			m := model{Secret: types.StringNull()}
			result := req.NewListResult(ctx)
			if err := read(ctx, file, &m); err != nil {
				result.Diagnostics.AddError("cannot read", err.Error())
			}
			result.DisplayName = m.ID.ValueString()
			result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root("id"), m.ID)...)
			result.Diagnostics.Append(result.Resource.Set(ctx, m)...)
			if !push(result) {
				return
			}
		}
	}
}
