import { faultText, type RulesFile, warningsOf } from '#domains/gateway';
import type { Tool } from '#effects';
import { counted } from '#views';
import { EXIT, type ExitCode } from '../../errors.ts';
import { casesBeside } from '../../store/rules-files.ts';
import type { Session } from '../../store/session.ts';
import { green, line, yellow } from '../../terminal/printable.ts';

/** Prints the warnings about a rules file. */
export function checkRules({ json, out }: Session, file: RulesFile, tools: readonly Tool[]): ExitCode {
  const { rules } = file;
  const cases = [...file.cases, ...casesBeside(file.file)];
  const warnings = warningsOf(file, tools);
  if (json) out.document({ rules: rules.id, count: rules.rules.length, cases: cases.length, warnings });
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
