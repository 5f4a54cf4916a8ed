import type { Session } from '@assize/command';
import { EXIT, type ExitCode, green, line, red, yellow } from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import type { Tool } from 'assize/internal/effects';
import { counted } from 'assize/internal/views';
import { faultText, type RulesFault, warningsOf } from '#gateway';
import { casesBeside, rulesFaultsOf, rulesFileIn } from '../rules-files.ts';

/** Prints the faults of a rules file, or the warnings about it. */
export function checkRules({ json, out }: Session, path: string, tools: readonly Tool[]): ExitCode {
  const read = faultsOr(() => ({ file: rulesFileIn(path), beside: casesBeside(path) }));
  if ('faults' in read) {
    if (json) out.document({ faults: read.faults });
    else for (const fault of read.faults) out.line(line`${red('fault')} ${faultText(fault)}`);
    return EXIT.negative;
  }
  const { file, beside } = read;
  const { rules } = file;
  const cases = [...file.cases, ...beside];
  const warnings = warningsOf(file, tools);
  if (json) out.document({ faults: [], rules: rules.id, count: rules.rules.length, cases: cases.length, warnings });
  else {
    for (const warning of warnings) out.line(line`${yellow('warning')} ${faultText(warning)}`);
    const parts = [
      counted(rules.rules.length, 'rule'),
      counted(rules.limits.length, 'limit'),
      counted(rules.tools.length, 'tool'),
      counted(cases.length, 'case'),
    ].join(', ');
    if (warnings.length === 0) out.line(line`${green('known')}: all names in ${rules.id} (${parts})`);
  }
  return warnings.length === 0 ? EXIT.ok : EXIT.negative;
}

function faultsOr<T extends object>(read: () => T): T | { readonly faults: readonly RulesFault[] } {
  try {
    return read();
  } catch (error) {
    const faults = isAssizeError(error, 'bad_input') ? rulesFaultsOf(error) : undefined;
    if (faults === undefined) throw error;
    return { faults };
  }
}
