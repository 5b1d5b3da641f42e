use opal_core::action::{Action, Halt, Level, Stage};
use opal_core::boundary::{Boundary, Member, planned};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::message;
use opal_core::resolver::{Ask, Inputs, Probe, Trouble, TroubleKind};
use opal_core::target::{Hop, KubeContext, LabelSelector, Name, Pod};
use opal_core::{Data, Secret, Type, Value};

use super::crossings::{self, ENV, FILES, LOST, OnMany, OnOne};

/// Pods that are named in one line.
const MAX_NAMED: usize = 20;

/// Only these can run anything.
const RUNNING: &str = "--field-selector=status.phase=Running";

const NAMES: &str = "--output=jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}";

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "k8s.exec",
    summary: "run a block in pods of Kubernetes",
    docs: "The steps of the block run in a container of the pod, by `kubectl exec`: one for the whole \
           block, whatever the number of steps. The image needs nothing but a `sh`. Name one `pod`, or \
           a `selector` of labels: then the block runs in every running pod that has these labels, \
           several at a time, and a table says how each ended.\n\nWhoever may create a pod in the \
           namespace can give it any label. So a run first shows the pods that it has found, and a \
           block that uses secret values is an error if there are more pods than `expect`.\n\n\
           Inside `@ssh.host`, the `kubectl` of the host is used.",
    params: &[
        Param::optional("pod", "the name of the pod"),
        Param::optional(
            "selector",
            "labels of the pods instead, as `kubectl --selector` reads them: `app=web,tier!=test`",
        ),
        Param::optional("namespace", "the namespace; by default that of the context"),
        Param::optional(
            "container",
            "the container of the pod; by default the one `kubectl` takes",
        ),
        Param::optional(
            "context",
            "the context in the configuration of `kubectl`; by default the \
                                    current one",
        ),
        Param {
            name: "expect",
            ty: Type::Int,
            presence: Presence::Default(Value::Int(1)),
            range: Some((1, 10_000)),
            docs: "how many pods a block with secret values may run in at most",
            ..Param::BASE
        },
        ENV,
        FILES,
        LOST,
    ],
    one_of: &["pod", "selector"],
    block: Block::Required,
    capabilities: &[Capability::Network, Capability::Processes],
    boundary: Some(&K8sExec),
    examples: &[
        Example {
            title: "a migration in one pod",
            source: "fun migrate() {\n    @k8s.exec(\"web-0\", namespace=\"shop\", container=\"app\") {\n        \
                     ./manage.py migrate --no-input\n    }\n}\n",
        },
        Example {
            title: "every pod with a label",
            source: "fun reload() {\n    @k8s.exec(selector=\"app=web\", namespace=\"shop\") {\n        \
                     nginx -s reload\n    }\n}\n",
        },
    ],
    action: Some(&K8sExec),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct K8sExec;

impl Boundary for K8sExec {
    fn targets(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        let context: Option<KubeContext> = parsed(inputs.text("context"))?;
        let namespace: Option<Name> = parsed(inputs.text("namespace"))?;
        let container: Option<Name> = parsed(inputs.text("container"))?;
        let names = match inputs.text("selector") {
            Some(selector) => {
                let selector = selector.parse().map_err(crossings::invalid)?;
                found(&selector, namespace.as_ref(), context.as_ref(), probe)?
            }
            None => vec![inputs.text("pod").unwrap_or_default().to_owned()],
        };
        let member = |name: String| {
            let pod = Pod {
                name: name.parse().map_err(crossings::invalid)?,
                namespace: namespace.clone(),
                container: container.clone(),
                context: context.clone(),
            };
            let target = name.parse().map_err(crossings::invalid)?;
            Ok(crossings::member(target, &name, Hop::Pod(pod), None))
        };
        crossings::fleet(names.into_iter().map(member).collect::<Result<_, Trouble>>()?)
    }

    fn steering(&self) -> &'static [&'static str] {
        &["pod", "selector", "namespace", "container", "context"]
    }

    fn is_expensive(&self, inputs: &Inputs) -> bool {
        inputs.text("selector").is_some()
    }

    fn asks_there(&self) -> bool {
        true
    }

    fn is_fleet(&self, inputs: &Inputs) -> bool {
        inputs.text("selector").is_some()
    }
}

impl Action for K8sExec {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let Some(selector) = inputs.text("selector") else { return OnOne.act(inputs, stage) };
        let targets = planned(inputs).map_err(|trouble| stage.fail(1, trouble))?;
        let mut names: Vec<&str> = targets.iter().map(|it| it.name.as_str()).collect();
        let more = names.len().saturating_sub(MAX_NAMED);
        names.truncate(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let line = format!("pods with `{selector}`: {}{more}", names.join(" "));
        stage.log(Level::Info, &Secret::new(line))?;
        OnMany.act(inputs, stage)
    }
}

fn parsed<T>(text: Option<&str>) -> Result<Option<T>, Trouble>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    text.map(|text| text.parse().map_err(crossings::invalid)).transpose()
}

/// The names of the running pods with these labels, in order.
fn found(
    selector: &LabelSelector,
    namespace: Option<&Name>,
    context: Option<&KubeContext>,
    probe: &dyn Probe,
) -> Result<Vec<String>, Trouble> {
    let selecting = format!("--selector={}", selector.as_str());
    let mut words = vec!["kubectl"];
    let context = context.map(|it| ["--context", it.as_str()]);
    let namespace = namespace.map(|it| ["--namespace", it.as_str()]);
    words.extend(context.into_iter().chain(namespace).flatten());
    words.extend(["get", "pods", &selecting, RUNNING, NAMES, "--request-timeout=20s"]);
    let answer = probe.ask(&Ask::program(&words))?;
    if answer.code != 0 {
        let said = answer.stderr.expose().lines().last().unwrap_or_default().trim().to_owned();
        let said = opal_core::view::visible::brief(&said, 200);
        let message = message!("the pods cannot be listed: ", said);
        let help = "check that `kubectl get pods` works in a terminal";
        return Err(Trouble::new(TroubleKind::Unreachable, message, help));
    }
    let mut names: Vec<String> =
        answer.stdout.expose().lines().filter(|it| !it.is_empty()).map(str::to_owned).collect();
    names.sort_unstable();
    if names.is_empty() {
        let message = message!("no running pod has the labels `", selector.as_str(), "`");
        let help = "check the labels with `kubectl get pods --show-labels`, and the namespace";
        return Err(Trouble::new(TroubleKind::Missing, message, help));
    }
    Ok(names)
}
