import { parentPort, workerData } from 'node:worker_threads';
import { type Domain, requireOwnDomain } from '#kernel';
import { type FromThread, Replicas, type ToThread } from './replica.ts';
import type { ThreadTask } from './thread.ts';

const { module, name } = workerData as ThreadTask;
const port = parentPort as NonNullable<typeof parentPort>;
const say = (message: FromThread): void => port.postMessage(message);

try {
  const found: unknown = ((await import(module)) as Record<string, unknown>)[name];
  if (isDomain(found)) {
    requireOwnDomain(found);
    const replicas = new Replicas(found);
    port.on('message', (message: ToThread) => {
      const answer = replicas.hear(message);
      if (answer !== undefined) say(answer);
    });
    say({ from: 'ready', name: found.name, version: found.version, hash: found.hash });
  } else say({ from: 'failed', why: `${module} exports no domain ${name}` });
} catch (error) {
  say({
    from: 'failed',
    why: `${module} can't be imported: ${error instanceof Error ? error.message : String(error)}`,
  });
}

/** As `defineDomain` makes them. */
function isDomain(value: unknown): value is Domain {
  return typeof value === 'object' && value !== null && 'hash' in value && 'rulesByPath' in value && 'bind' in value;
}
