import { spawnSync } from 'node:child_process';
import { isInstalled } from '@assize/command';

/** The missing ones of the programs that a sandbox of Linux needs, and its runtime. */
export function missingForSandbox(): readonly string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const lacks = ['bwrap', 'socat', 'rg'].filter(
    (program) => spawnSync(program, ['--version']).error !== undefined,
  );
  return isInstalled('@anthropic-ai/sandbox-runtime') ? lacks : [...lacks, 'the sandbox runtime'];
}
