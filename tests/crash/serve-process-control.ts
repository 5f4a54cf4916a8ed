import { join } from 'node:path';
import type { KeyPair } from '#canon';
import { systemClock } from '#oracle';
import { credentialsOf } from '#server';
import { openStore } from '#stores';
import { bundled } from '../support/bundled.ts';
import { agentName, COUNSELORS, ROOT } from './serve-orders.ts';
import { ServerProcess } from './server-process.ts';

const program = await bundled(join(import.meta.dirname, 'serve-process.ts'));
const YEAR = '2099-01-01T00:00:00.000000Z';

export interface ServedOptions {
  readonly url: string;
  readonly sinkPort: string;
  readonly agents: number;
  readonly writSeconds?: number;
  readonly leaseMs?: number;
}

/** A server of the world of counters. */
export class Served extends ServerProcess {
  constructor({ url, sinkPort, agents, writSeconds = 900, leaseMs = 1_000 }: ServedOptions) {
    super(program, (port) => [url, port, sinkPort, agents, writSeconds, leaseMs].map(String));
  }
}

/** A token of each principal of the served processes, by name. */
export async function tokensIn(
  url: string,
  agents: number,
  root: KeyPair = ROOT,
): Promise<ReadonlyMap<string, string>> {
  const store = await openStore(url);
  try {
    const { tokens } = credentialsOf(store, root);
    const made = new Map<string, string>();
    const names = [
      ...Array.from({ length: agents }, (_, n) => agentName(n)),
      ...COUNSELORS,
      'human:ada',
    ];
    for (const principal of names) {
      const kinds = ['agent', 'counselor', 'auditor', 'admin'] as const;
      const { token } = await tokens.create({
        principal,
        kinds,
        created: systemClock.now(),
        expires: YEAR,
      });
      made.set(principal, token);
    }
    return made;
  } finally {
    await store.close();
  }
}
