import { existsSync } from 'node:fs';
import { CliError, project, readText } from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import {
  type ReadCase,
  type RulesFault,
  type RulesFile,
  readCases,
  readRules,
  readTrial,
  type TrialSet,
  trialFileOf,
} from '#gateway';
import { isRulesFile } from './is-rules-file.ts';

/** The rules file that a command is about: the named one, or that of the configuration. */
export function rulesFileNamed(named: string | undefined): string {
  const path = named ?? project()?.policyFile;
  if (path !== undefined && isRulesFile(path)) return path;
  throw new CliError(
    'usage',
    'The configuration names no rules file. Name it, such as assize.yaml, or pass --config.',
  );
}

/** A rules file. @throws CliError with file, line and column of each fault */
export function rulesFileIn(path: string): RulesFile {
  return inFile(() => readRules(readText(path), path));
}

/** The name of the cases of `FILE.yaml`. */
export function casesFileOf(path: string): string {
  return path.replace(/\.(ya?ml)$/i, '.cases.$1');
}

/** The cases of `FILE.cases.yaml` beside `FILE.yaml`, if that file exists. @throws CliError */
export function casesBeside(path: string): readonly ReadCase[] {
  const beside = casesFileOf(path);
  return existsSync(beside) ? inFile(() => readCases(readText(beside), beside)) : [];
}

/** The trial set of `FILE.trial.yaml` beside `FILE.yaml`, if that file exists. @throws CliError */
export function trialBeside(path: string): TrialSet | undefined {
  const beside = trialFileOf(path);
  return existsSync(beside) ? inFile(() => readTrial(readText(beside), beside)) : undefined;
}

/** The faults of a rules file, where an error has some. */
export function rulesFaultsOf({
  cause,
}: {
  readonly cause?: unknown;
}): readonly RulesFault[] | undefined {
  return isAssizeError(cause, 'bad_rules')
    ? (cause.evidence['faults'] as readonly RulesFault[])
    : undefined;
}

function inFile<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!isAssizeError(cause, 'bad_rules')) throw cause;
    throw new CliError('bad_input', cause.message, {
      cause,
      evidence: { findings: cause.evidence['faults'] },
    });
  }
}
