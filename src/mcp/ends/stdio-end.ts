import { randomBytes } from 'node:crypto';
import type { Server, Transport } from '@modelcontextprotocol/server';
import type { Question } from '../call-flow.ts';
import type { Gateway } from '../gateway.ts';
import { gatewayServer, QUESTION_SECONDS } from '../gateway-server.ts';
import { loadServer, loadServerStdio } from '../peers.ts';
import { overPipes } from './over-pipes.ts';

export interface StdioEndOptions {
  readonly gateway: Gateway;
  readonly server: string;
  readonly version: string;
  /** Default: the pipes of this process. */
  readonly transport?: Transport | undefined;
}

/** How often a definition that waits for approval is looked at again, in milliseconds. */
const LOOK_MS = 3_000;

/**
 * Serves one client over the pipes of this process. Resolves when the client leaves or the signal
 * ends, after the last outcomes are recorded.
 */
export async function stdioEnd(options: StdioEndOptions, ends: AbortSignal): Promise<void> {
  const { gateway, server: name, version, transport } = options;
  const [{ createRequestStateCodec }] = await Promise.all([loadServer(), loadServerStdio()]);
  const codec = createRequestStateCodec<Question>({ key: randomBytes(32), ttlSeconds: QUESTION_SECONDS });
  await gateway.upstream.client();
  let current: Server | undefined;
  const make = async (): Promise<Server> => {
    current = await gatewayServer({ gateway, server: name, version, codec });
    return current;
  };
  const stop = gateway.upstream.onEvent((event) => void announce(current, event));
  const looking = setInterval(() => void look(gateway, () => void announce(current, 'tools')), LOOK_MS).unref();
  await overPipes({ make, transport, onWarning: (text) => gateway.warn(text) }, ends);
  clearInterval(looking);
  stop();
  await gateway.settled();
  await gateway.upstream.close();
}

/** Tells the client that the tools it may call have changed, for example by an approval. */
async function look(gateway: Gateway, changed: () => void): Promise<void> {
  // The next request of the client meets the same fault, and tells it.
  const hasOthers = await gateway.hasOtherTools().catch(() => false);
  if (hasOthers) changed();
}

async function announce(server: Server | undefined, event: 'tools' | 'prompts' | 'resources'): Promise<void> {
  if (server?.transport === undefined) return;
  const sent =
    event === 'tools'
      ? server.sendToolListChanged()
      : event === 'prompts'
        ? server.sendPromptListChanged()
        : server.sendResourceListChanged();
  await sent.catch(() => undefined);
}
