import { onTestFinished } from 'vitest';
import {
  linesIn,
  outcomesOf,
  RULED_PRINCIPALS,
  rulesFor,
  type Story,
} from '../../../../../tests/support/agents/ruling.ts';
import type { AgentStage } from '../../../../../tests/support/agents/stage.ts';
import { runCommand } from '../../../../../tests/support/process/command.ts';
import {
  type ListeningServer,
  startServer,
} from '../../../../../tests/support/process/listening-server.ts';

/** `assize serve` with a database, as a process of its own that rules on the calls of a stage. */
export interface Desk {
  readonly url: string;
  readonly agentToken: string;
  /** Ends the process without a warning. */
  kill(): Promise<void>;
  /** Starts it again, at the same address. */
  again(): Promise<void>;
  /** Sends an event of the hooks by hand. */
  send(event: object): Promise<unknown>;
  story(): Promise<Story>;
}

const STORE = 'sqlite:./desk.db';

/** `program`: the last part of the path of the hooks. */
export async function startDesk(stage: AgentStage, program: string): Promise<Desk> {
  const config = {
    policy: './assize.yaml',
    worlds: { calls: { domain: 'gateway' } },
    principals: RULED_PRINCIPALS,
  };
  stage.write('desk/assize.config.mjs', `export default ${JSON.stringify(config)};`);
  stage.write('desk/assize.yaml', rulesFor(stage.project));
  const folder = `${stage.folder}/desk`;
  const serve = (port: string): Promise<ListeningServer> =>
    startServer(folder, ['--port', port], { env: { ASSIZE_STORE: STORE } });
  let server = await serve('0');
  onTestFinished(async () => void (await server.end('SIGKILL')));
  const { url } = server;
  const tokenOf = async (principal: string): Promise<string> => {
    const { code, out, err } = await runCommand(folder, STORE, 'token', 'create', principal);
    if (code !== 0) throw new Error(err);
    return out.trim();
  };
  const [agent, grace, ann] = [
    await tokenOf('agent:coder'),
    await tokenOf('human:grace'),
    await tokenOf('admin:ann'),
  ];
  const ok = async (method: string, path: string, token: string, body?: object): Promise<any> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  return {
    url,
    agentToken: agent,
    kill: async () => void (await server.end('SIGKILL')),
    again: async () => {
      server = await serve(new URL(url).port);
    },
    send: (event) => ok('POST', `/v1/trajectories/calls/hooks/${program}?wait=0`, agent, event),
    story: async () => ({
      lines: linesIn(stage),
      calls: outcomesOf((await ok('GET', '/v1/trajectories/calls/state', grace)).state),
      valid: (await ok('POST', '/v1/verify', ann, {})).valid,
    }),
  };
}
