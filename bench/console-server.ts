/**
 * The server process of `console.ts`: `node console-server.ts STORE`. It serves the console over a
 * ledger, and tells its parent the address and the cookie of a signed-in person.
 */
import { generateKeys } from '#canon';
import { loadConfig, type ResolvedPrincipal } from '#config';
import type { Domain } from '#kernel';
import { systemClock } from '#oracle';
import { credentialsOf, serve } from '#server';
import { openStore } from '#stores';
import { builtConsole } from '../packages/cli/src/files/built-console.ts';
import { bills } from './bills.ts';
import { shop } from './shop.ts';

/** The message of a server that accepts requests. */
export interface Ready {
  readonly url: string;
  readonly cookie: { readonly name: string; readonly value: string };
}

const READER = 'boss:bench';
const NO_LIMITS = {
  requestsPerSecond: 1e9,
  concurrency: 1e6,
  streams: 1e6,
  bodyBytes: 1_048_576,
  proposalBytes: 65_536,
  names: 4_096,
  backlog: 1e6,
  simulations: 2,
};

async function start(url: string): Promise<Ready> {
  const store = await openStore(url);
  const root = generateKeys(new Uint8Array(32).fill(1));
  const principal: ResolvedPrincipal = {
    name: READER,
    kinds: ['auditor', 'counselor'],
    grants: [],
    email: undefined,
  };
  const defaults = await loadConfig({ from: '/', store: url, env: {} });
  const serving = await serve({
    config: {
      ...defaults,
      principals: new Map([[READER, principal]]),
      server: { ...defaults.server, port: 0, limits: NO_LIMITS },
    },
    ...{
      store,
      domains: [shop as Domain, bills],
      root: { ...root, origin: 'environment', created: false },
    },
    console: await builtConsole(),
    policyOf: () => {
      throw new Error('the benchmark has no policy');
    },
    log: (line) => void process.stderr.write(line),
  });
  // As in a server that has worked with them and so left snapshots.
  for (const { trajectory_id } of await store.trajectories())
    await serving.service.assize.open(trajectory_id);
  const { sessions } = credentialsOf(store, root);
  const value = await sessions.start({ principal: READER, method: 'session' }, systemClock.now());
  return { url: serving.url, cookie: { name: 'assize-session', value } };
}

process.on('disconnect', () => process.exit());
const ready = await start(process.argv[2] ?? '');
if (process.send === undefined) console.log(JSON.stringify(ready));
else process.send(ready);
