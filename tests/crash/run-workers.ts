import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { bundled } from '../support/bundled.ts';
import type { CarriedWork, Carriers } from './runs-kill.ts';

/** Workers of durable runs, each in a process. */
export async function runWorkers(workers: number, { url, port }: CarriedWork): Promise<Carriers> {
  const program = await bundled(join(import.meta.dirname, 'runs-process.ts'));
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program, url, port], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    return child;
  };
  const living = await Promise.all(Array.from({ length: workers }, start));
  onTestFinished(() => {
    for (const child of living) child.kill('SIGKILL');
  });
  return {
    size: workers,
    async replace(place) {
      const exited = once(living[place]!, 'exit');
      living[place]!.kill('SIGKILL');
      await exited;
      living[place] = await start();
    },
    // The workers find the record.
    async begin() {},
    async end() {
      for (const child of living) {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        expect(await exited).toEqual([0, null]);
      }
    },
  };
}
