import type { Command } from 'commander';
import { type UnknownName, unknownNames } from '#kernel';
import { EXIT } from '../../errors.ts';
import { domainOption, toolsOption, withoutStore } from '../../files/options.ts';
import { loadDomains } from '../../store/domains.ts';
import { ruleTableIn } from '../../store/policies.ts';
import { inSession, type StorelessOptions } from '../../store/session.ts';
import { loadTools } from '../../store/tools.ts';
import { counted } from '../../terminal/counted.ts';
import { green, line, yellow } from '../../terminal/printable.ts';

interface Options extends StorelessOptions {
  readonly domain: readonly string[];
  readonly tools: readonly string[];
}

export function check(command: Command): void {
  withoutStore(
    command
      .command('check')
      .description('list actions, roles and tools of a rule table that no domain and no tool has')
      .argument('<table>', 'rule table in JSON')
      .addOption(domainOption)
      .addOption(toolsOption),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize policy check today.json --domain expenses.ts --tools bank.ts\n\n' +
        'A row with a misspelled action never applies: a deny denies nothing.\n' +
        'Tools in calls are compared only with --tools. Negative: an unknown name.',
    )
    .action(
      inSession(async ({ json, out }, options: Options, path: string) => {
        const table = ruleTableIn(path);
        const domains = await loadDomains(options.domain);
        const tools = options.tools.length > 0 ? { tools: await loadTools(options.tools) } : {};
        const unknown = unknownNames(table, { domains, ...tools });
        if (json) out.document({ table: table.id, rules: table.rules.length, unknown });
        else {
          for (const each of unknown) out.line(textOf(each));
          const rules = counted(table.rules.length, 'rule');
          if (unknown.length === 0) out.line(line`${green('known')}: all names of the ${rules} of ${table.id}`);
        }
        return unknown.length === 0 ? EXIT.ok : EXIT.negative;
      }),
    );
}

const OWNERS = { action: 'domain or tool', role: 'domain', tool: 'tool' } as const;

function textOf({ rule, pointer, kind, name }: UnknownName) {
  return line`${yellow('unknown')} ${kind} ${name} of rule ${rule} (${pointer}): no ${OWNERS[kind]} has it`;
}
