/** A server of Assize for the gate of a driver. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gateway, readRules } from '@assize/gate/unstable/gateway';
import { credentialsOf, serve } from '@assize/server/internal';
import type { DriverSettings } from '@assize/testing/conformance';
import { addMicros } from 'assize/internal/canon';
import { resolveConfig, rootKeyOf } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { systemClock } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';

/** How a gate reaches the server. */
export interface ServedGate {
  readonly url: string;
  readonly token: string;
  /** The tokens of the people of the suite. */
  readonly people: Readonly<Record<string, string>>;
}

const [AGENT, PERSON] = ['agent:suite', 'manager:grace'] as const;
const ACTIONS = ['call', 'begin', 'report', 'session'];
const DAY_MICROS = 86_400_000_000;

/** Starts the server over the store of a folder, which has the rules and the settings. */
export async function servedGate(
  folder: string,
): Promise<{ readonly address: ServedGate; readonly stop: () => Promise<void> }> {
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const { expiresMs }: DriverSettings = JSON.parse(read('settings.json'));
  const { rules } = readRules(read('rules.yaml'), 'rules.yaml');
  const url = `sqlite:${join(folder, 'served.db')}`;
  const given = {
    store: url,
    server: { port: 0, limits: { requestsPerSecond: 10_000, concurrency: 256 } },
    worlds: { calls: { domain: 'gateway' } },
    principals: {
      [AGENT]: { kinds: ['agent'], grants: [{ actions: ACTIONS }] },
      [PERSON]: { kinds: ['counselor'] },
    },
    ...(expiresMs !== undefined && { approvals: { timeoutMs: expiresMs } }),
  } as const;
  const config = resolveConfig(given as never, { folder, store: undefined, env: {} });
  const root = rootKeyOf(url, {});
  const store = await openStore(url);
  const serving = await serve({
    ...{ config, store, root, rules, clock: systemClock, log: () => undefined },
    domains: [gateway({ rules }) as unknown as Domain],
  } as never);
  const token = async (principal: string, kinds: readonly string[]): Promise<string> => {
    const created = systemClock.now();
    const terms = { principal, kinds, created, expires: addMicros(created, DAY_MICROS) };
    return (await credentialsOf(store, root).tokens.create(terms as never)).token;
  };
  return {
    address: {
      url: serving.url,
      token: await token(AGENT, ['agent']),
      people: { [PERSON]: await token(PERSON, ['counselor']) },
    },
    stop: async () => {
      await serving.stop();
      await store.close();
    },
  };
}
