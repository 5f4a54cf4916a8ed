import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { CarriedWork, Carriers } from '../../crash/runs-kill.ts';
import { bundled } from '../bundled.ts';
import { Program } from './program.ts';
import { RestateCluster } from './restate-cluster.ts';
import type { AskedOfRestateRuns } from './restate-runs-program.ts';
import { freePort } from './restate-server.ts';

/** A program with a virtual object (place 0), and the three nodes of its cluster. */
export async function restateCarriers({ url, port: sink }: CarriedWork): Promise<Carriers> {
  const file = await bundled(join(import.meta.dirname, 'restate-runs-program.ts'));
  const cluster = await RestateCluster.start();
  onTestFinished(() => cluster.stop());
  const port = await freePort();
  const start = async (): Promise<Program> => {
    const program = new Program(file, { store: url, sink, port } satisfies AskedOfRestateRuns);
    await program.event('works');
    return program;
  };
  let program = await start();
  onTestFinished(() => program.kill());
  await cluster.ask((node) => node.register(port));
  return {
    size: 1 + cluster.size,
    async replace(place) {
      if (place === 0) {
        await program.kill();
        program = await start();
      } else {
        await cluster.kill(place - 1);
        await sleep(500);
        await cluster.restart(place - 1);
      }
    },
    // After an answer that was lost, the next node gets the same invocation.
    async begin(trajectoryId) {
      await cluster.ask((node) => node.send(`runs/${trajectoryId}/carry`, undefined, trajectoryId));
    },
    async end(names) {
      const invocations = () =>
        cluster.ask((node) =>
          node.query(
            `SELECT target_service_key AS run, status, completion_result AS result FROM sys_invocation WHERE target_service_name = 'runs'`,
          ),
        );
      const completed = names.map((run) => ({ run, status: 'completed', result: 'success' }));
      await expect.poll(async () => byRun(await invocations())).toEqual(byRun(completed));
      await program.terminate();
    },
  };
}

function byRun(rows: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
  return rows.toSorted((a, b) => String(a['run']).localeCompare(String(b['run'])));
}
