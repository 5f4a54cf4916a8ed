import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import {
  CliError,
  cloneFolder,
  inSession,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import type { Command } from 'commander';

interface Options extends SharedOptions {
  readonly only?: string;
  readonly peer?: string;
}

export function bench(program: Command): void {
  withSharedOptions(
    program
      .command('bench')
      .description('run the benchmarks of this repository, each with its baseline')
      .option('--only <name>', 'run only this workload')
      .option(
        '--peer <folder>',
        'copy of the Python reference, compared in the workloads effects and speculation',
      ),
  ).action(
    inSession(async ({ json, interruption }, { only, peer }: Options) => {
      const clone = cloneFolder();
      if (clone === undefined) {
        throw new CliError(
          'missing_package',
          'The published package has no benchmarks. Clone the repository and run npm run bench.',
        );
      }
      const args = [
        ...(json ? ['--json'] : []),
        ...(only === undefined ? [] : ['--only', only]),
        ...(peer === undefined ? [] : ['--peer', peer]),
      ];
      const child = spawn(process.execPath, [join(clone, 'bench/run.ts'), ...args], {
        stdio: 'inherit',
      });
      const stop = () => child.kill('SIGTERM');
      interruption.addEventListener('abort', stop);
      const [code] = (await once(child, 'exit')) as [number | null];
      interruption.throwIfAborted();
      return code ?? 2;
    }),
  );
}
