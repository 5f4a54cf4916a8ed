import {
  domainOption,
  EXIT,
  type ExitCode,
  green,
  inSession,
  line,
  loadDomains,
  loadTools,
  noOverrideText,
  ownDomains,
  red,
  ruleTableIn,
  type Session,
  type StorelessOptions,
  toolsOption,
  withoutStore,
  yellow,
} from '@assize/command';
import type { RuleTable } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import type { Tool } from 'assize/internal/effects';
import { rulesWithoutOverride, type UnknownName, unknownNames } from 'assize/internal/kernel';
import { systemClock } from 'assize/internal/oracle';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { faultText, observationOf, observingText, type RulesFault, warningsOf } from '#gateway';
import { neverMet } from '#hooks';
import { isRulesFile } from '../is-rules-file.ts';
import { casesBeside, rulesFaultsOf, rulesFileIn } from '../rules-files.ts';

interface Options extends StorelessOptions {
  readonly domain: readonly string[];
  readonly tools: readonly string[];
}

export function check(command: Command): void {
  withoutStore(
    command
      .command('check')
      .description('list the names in a rule table or rules file that no domain and no tool has')
      .argument('<table>', 'rule table in JSON, or rules file such as assize.yaml')
      .addOption(domainOption)
      .addOption(toolsOption),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize policy check today.json --domain expenses.ts --tools bank.ts\n\n' +
        'A row with a misspelled action never applies: a deny denies nothing.\n' +
        'Tools in calls are compared only with --tools. Rules whose rejections no approval overrides are listed.\n' +
        'Negative: a fault of a rules file, an unknown name, or a tool that was not compared.',
    )
    .action(
      inSession(async (session, options: Options, path: string) => {
        if (isRulesFile(path)) return checkRules(session, path, await loadTools(options.tools));
        const { json, out } = session;
        const table = ruleTableIn(path);
        const domains = await loadDomains(options.domain);
        const tools = options.tools.length > 0 ? { tools: await loadTools(options.tools) } : {};
        const unknown = unknownNames(table, { domains, ...tools });
        const notCompared = options.tools.length > 0 ? [] : toolsIn(table);
        const finals = (await ownDomains(options.domain))
          .map((domain) => ({ domain: domain.name, rules: rulesWithoutOverride(domain) }))
          .filter(({ rules }) => rules.length > 0);
        if (json)
          out.document({
            table: table.id,
            rules: table.rules.length,
            unknown,
            not_compared: notCompared,
            ...(finals.length === 0 ? {} : { not_overridable: finals }),
          });
        else {
          for (const { domain, rules } of finals)
            out.line(line`${domain}: ${noOverrideText(rules)}`);
          for (const each of unknown) out.line(textOf(each));
          const names = notCompared.length === 0 ? 'all names' : 'all actions and roles';
          const place = `${table.id} (${counted(table.rules.length, 'rule')})`;
          if (unknown.length === 0) out.line(line`${green('known')}: ${names} in ${place}`);
          for (const { rule, name } of notCompared)
            out.line(
              line`${yellow('not compared')}: tool ${name} of rule ${rule}. Pass --tools FILE.`,
            );
        }
        return unknown.length === 0 && notCompared.length === 0 ? EXIT.ok : EXIT.negative;
      }),
    );
}

/** The tools that the `calls` of a table name. The pattern for every tool names none. */
function toolsIn({ rules }: RuleTable): Omit<UnknownName, 'kind'>[] {
  return rules.flatMap(({ id: rule, calls = [] }, i) =>
    calls.flatMap(({ tool: name }, n) =>
      name === '**' ? [] : [{ rule, pointer: `/rules/${i}/calls/${n}/tool`, name }],
    ),
  );
}

const OWNERS = { action: 'domain or tool', role: 'domain', tool: 'tool' } as const;

function textOf({ rule, pointer, kind, name }: UnknownName) {
  return line`${yellow('unknown')} ${kind} ${name} of rule ${rule} (${pointer}): no ${OWNERS[kind]} has it`;
}

/** Prints the faults of a rules file, or the warnings about it. */
function checkRules({ json, out }: Session, path: string, tools: readonly Tool[]): ExitCode {
  const read = faultsOr(() => ({ file: rulesFileIn(path), beside: casesBeside(path) }));
  if ('faults' in read) {
    if (json) out.document({ faults: read.faults });
    else for (const fault of read.faults) out.line(line`${red('fault')} ${faultText(fault)}`);
    return EXIT.negative;
  }
  const { file, beside } = read;
  const { rules } = file;
  const cases = [...file.cases, ...beside];
  const warnings = [...warningsOf(file, tools), ...neverMet(file)];
  const observed = observationOf(rules, systemClock.now());
  if (json)
    out.document({
      faults: [],
      rules: rules.id,
      count: rules.rules.length,
      cases: cases.length,
      warnings,
      ...(observed === undefined ? {} : { observing: observed }),
    });
  else {
    for (const warning of warnings) out.line(line`${yellow('warning')} ${faultText(warning)}`);
    const parts = [
      counted(rules.rules.length, 'rule'),
      counted(rules.limits.length, 'limit'),
      counted(rules.tools.length, 'tool'),
      counted(cases.length, 'case'),
    ].join(', ');
    if (warnings.length === 0)
      out.line(line`${green('known')}: all names in ${rules.id} (${parts})`);
    if (observed !== undefined) out.line(line`${yellow(observingText(observed))}`);
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
