//! The Rust SDK does what the plan asks. It alone runs inside the test, so no package has to be there.

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, GetPromptRequestParams,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError, ServiceExt as _};
use rmcp::transport::TokioChildProcess;
use serde_json::Value;

use crate::plan::{Call, Outcome, Plan, PromptReport, Report};

/// Drives the server that `plan` names.
pub(crate) fn drive(plan: &Plan) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(conversation(plan))
}

async fn conversation(plan: &Plan) -> Report {
    let mut command = tokio::process::Command::new(&plan.command);
    command.args(&plan.args).envs(&plan.env);
    let client = ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
    let server = client.peer_info().unwrap().server_info.clone().unwrap().name;
    let tools: Vec<_> =
        client.list_all_tools().await.unwrap().iter().map(|tool| tool.name.to_string()).collect();
    let mut calls = Vec::new();
    for call in &plan.calls {
        calls.push(outcome(client.call_tool(params(call)).await));
    }
    let prompts = prompts(&client).await;
    let meanwhile =
        if tools.contains(&plan.wait.tool) { Some(interrupted(&client, plan).await) } else { None };
    client.cancel().await.unwrap();
    Report { server, tools, calls, prompts, meanwhile }
}

fn params(call: &Call) -> CallToolRequestParams {
    let params = CallToolRequestParams::new(call.tool.clone());
    match &call.arguments {
        Some(arguments) => params.with_arguments(arguments.clone()),
        None => params,
    }
}

fn outcome(answer: Result<CallToolResult, ServiceError>) -> Outcome {
    match answer {
        Ok(result) => {
            let text = plain(&result)["content"][0]["text"].as_str().unwrap().to_owned();
            Outcome::Result { text, is_error: result.is_error == Some(true) }
        }
        Err(ServiceError::McpError(error)) => Outcome::Error { code: i64::from(error.code.0) },
        Err(error) => panic!("{error}"),
    }
}

fn plain(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

async fn prompts(client: &Peer<RoleClient>) -> Vec<PromptReport> {
    if client.peer_info().unwrap().capabilities.prompts.is_none() {
        return Vec::new();
    }
    let mut told = Vec::new();
    for prompt in client.list_all_prompts().await.unwrap() {
        let got = client.get_prompt(GetPromptRequestParams::new(prompt.name.clone())).await.unwrap();
        let message = &plain(&got)["messages"][0];
        let [role, text] =
            [&message["role"], &message["content"]["text"]].map(|value| value.as_str().unwrap().to_owned());
        told.push(PromptReport { name: prompt.name, role, text });
    }
    told
}

/// Takes a call back while it is being worked on, once another one has been answered beside it.
async fn interrupted(client: &Peer<RoleClient>, plan: &Plan) -> Outcome {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params(&plan.wait)));
    let waiting = client.send_cancellable_request(request, PeerRequestOptions::default()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(plan.pause_ms)).await;
    let meanwhile = outcome(client.call_tool(params(&plan.meanwhile)).await);
    waiting.cancel(None).await.unwrap();
    client.send_request(ClientRequest::PingRequest(rmcp::model::PingRequest::default())).await.unwrap();
    meanwhile
}
