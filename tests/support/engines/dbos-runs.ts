import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { expect, onTestFinished } from 'vitest';
import type { DurableRun } from '#agents';
import type { CarriedWork, Carriers } from '../../crash/runs-kill.ts';
import { bundled } from '../bundled.ts';
import type { AskedOfDbosRuns } from './dbos-runs-program.ts';
import { Program } from './program.ts';

/**
 * Executors of DBOS with a database of their own on a server of PostgreSQL, each in a process. A
 * new executor has the workflows of the executor in whose place it starts.
 */
export async function dbosCarriers(server: string, { url, port }: CarriedWork): Promise<Carriers> {
  const own = new URL(server);
  own.search = '';
  own.pathname = `/dbos_${randomUUID().replaceAll('-', '')}`;
  const database = own.href;
  const file = await bundled(join(import.meta.dirname, 'dbos-runs-program.ts'));
  const start = async (place: number): Promise<Program> => {
    const asked: AskedOfDbosRuns = { store: url, database, port };
    const program = new Program(file, asked, { DBOS__VMID: `executor-${place}` });
    await program.event('works');
    return program;
  };
  // The first one makes the tables of DBOS.
  const programs = [await start(0), await start(1)];
  onTestFinished(async () => void (await Promise.all(programs.map((program) => program.kill()))));
  const client = await DBOSClient.create({ systemDatabaseUrl: database });
  onTestFinished(() => client.destroy());
  return {
    size: programs.length,
    async replace(place) {
      await programs[place]!.kill();
      programs[place] = await start(place);
    },
    async begin(trajectoryId) {
      await client.enqueue(
        { queueName: 'runs', workflowName: 'carryRun', workflowID: trajectoryId },
        trajectoryId,
      );
    },
    async end(names) {
      const workflows = async () =>
        (await client.listWorkflows({ workflowName: 'carryRun' }))
          .map(({ workflowID, status, output }) => [
            workflowID,
            status,
            (output as DurableRun | undefined)?.status,
          ])
          .sort();
      await expect.poll(workflows).toEqual(names.map((name) => [name, 'SUCCESS', 'done']).sort());
      for (const program of programs) await program.terminate();
    },
  };
}
