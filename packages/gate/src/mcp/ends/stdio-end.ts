import { randomBytes } from 'node:crypto';
import type { Server, Transport } from '@modelcontextprotocol/server';
import type { Gateway } from '../gateway.ts';
import { type Carried, gatewayServer } from '../gateway-server.ts';
import { loadServer, loadServerStdio } from '../peers.ts';
import { QUESTION_SECONDS } from '../talk/conversations.ts';
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
  const codec = createRequestStateCodec<Carried>({
    key: randomBytes(32),
    ttlSeconds: QUESTION_SECONDS,
  });
  const { upstream } = gateway;
  await upstream.client();
  await gateway.desk.startRun();
  const subscriptions = new Set<string>();
  let current: Server | undefined;
  const make = async (era: 'legacy' | 'modern'): Promise<Server> => {
    // The SDK answers subscriptions of clients of 2026 itself, without asking the rules.
    const own = era === 'legacy' ? subscriptions : undefined;
    current = await gatewayServer({ gateway, server: name, version, codec, subscriptions: own });
    return current;
  };
  const stops = [
    upstream.onEvent((event) => void announce(current, event)),
    upstream.onLog((message) => void current?.sendLoggingMessage(message).catch(() => undefined)),
    upstream.onUpdate((uri) => {
      if (subscriptions.has(uri)) void current?.sendResourceUpdated({ uri }).catch(() => undefined);
    }),
  ];
  const looking = setInterval(
    () => void gateway.onOtherTools(() => void announce(current, 'tools')),
    LOOK_MS,
  ).unref();
  await overPipes({ make, transport, onWarning: (text) => gateway.warn(text) }, ends);
  clearInterval(looking);
  for (const stop of stops) stop();
  await gateway.settled();
  await gateway.desk.endRun();
  await gateway.upstream.close();
}

async function announce(
  server: Server | undefined,
  event: 'tools' | 'prompts' | 'resources',
): Promise<void> {
  if (server?.transport === undefined) return;
  const sent =
    event === 'tools'
      ? server.sendToolListChanged()
      : event === 'prompts'
        ? server.sendPromptListChanged()
        : server.sendResourceListChanged();
  await sent.catch(() => undefined);
}
