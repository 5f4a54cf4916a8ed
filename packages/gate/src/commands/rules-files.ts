import { existsSync } from 'node:fs';
import { CliError, readText } from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import {
  type Configuration,
  enforcing,
  type ReadCase,
  type RulesFault,
  type RulesFile,
  readCases,
  readRules,
} from '#gateway';

/** A rules file. @throws CliError with file, line and column of each fault */
export function rulesFileIn(path: string): RulesFile {
  return inFile(() => readRules(readText(path), path));
}

/** The cases of `FILE.cases.yaml` beside `FILE.yaml`, if that file exists. @throws CliError */
export function casesBeside(path: string): readonly ReadCase[] {
  const beside = path.replace(/\.(ya?ml)$/i, '.cases.$1');
  return existsSync(beside) ? inFile(() => readCases(readText(beside), beside)) : [];
}

/** The name of the trial set of `FILE.yaml`. */
export function trialFileOf(path: string): string {
  return path.replace(/\.(ya?ml)$/i, '.trial.$1');
}

/**
 * The trial set of `FILE.trial.yaml` beside `FILE.yaml`, if that file exists. It says that it only
 * observes, and until when.
 *
 * @throws CliError
 */
export function trialBeside(path: string): Configuration['trial'] {
  const beside = trialFileOf(path);
  if (!existsSync(beside)) return undefined;
  const { mode, until, agents, ...rules } = rulesFileIn(beside).rules;
  if (mode === 'observe' && until !== undefined && agents === undefined)
    return { rules: enforcing(rules), until };
  throw new CliError(
    'bad_input',
    `${beside} is a trial set, which only judges. Write mode: observe and until: DAY into it, without agents.`,
  );
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
