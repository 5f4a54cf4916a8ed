import type { EffectOptions } from 'assize/internal/runtime';
import { Option } from 'commander';
import { CliError } from '../errors.ts';
import { readText } from '../files/input-file.ts';

export const recoveryKeyOption: Option = new Option(
  '--recovery-key <file>',
  'secret of the processes that call tools; it authenticates their effect log',
).env('ASSIZE_RECOVERY_KEY');

/** The option of a command that recovers transactions. */
export interface RecoveryKeyOptions {
  readonly recoveryKey?: string;
}

/** The recovery key of the file, without surrounding white space. @throws CliError */
export function readRecoveryKey(file: string | undefined): Pick<EffectOptions, 'recoveryKey'> {
  if (file === undefined) return {};
  const recoveryKey = readText(file).trim();
  if (recoveryKey.length >= 32) return { recoveryKey };
  throw new CliError(
    'bad_input',
    `${file} is not a recovery key: it has fewer than 32 characters. Create one with: openssl rand -hex 32 > ${file}`,
  );
}
