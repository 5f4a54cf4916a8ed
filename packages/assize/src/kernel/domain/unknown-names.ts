import { type CallPattern, covers, matchesTool, parseRuleTable, type RuleTable } from '#authority';
import { arg, checkArgument } from '#base';
import { BELIEVE_ACTION } from './memory-shape.ts';

/** A pattern of a rule table that matches no known name, so the row never applies by it. */
export interface UnknownName {
  /** The id of the row. */
  readonly rule: string;
  /** JSON pointer into the table. */
  readonly pointer: string;
  readonly kind: 'action' | 'role' | 'tool';
  /** The pattern or the name. */
  readonly name: string;
}

/** The names that a rule table may use. */
export interface KnownNames {
  readonly domains: readonly {
    readonly actions: Readonly<Record<string, unknown>>;
    readonly roles: Readonly<Record<string, unknown>>;
  }[];
  /** Default: no tools. A policy is also asked about each tool call, with the tool as action. */
  readonly tools?: readonly { readonly name: string }[];
}

/** The built-in actions. A policy is asked about them too. */
const BUILT_IN_ACTIONS = [
  BELIEVE_ACTION,
  'assize.erase',
  'assize.halt',
  'assize.resolve_effect',
  'assize.revoke',
  'assize.upgrade',
];

/** The roles of built-in actions and of tool calls. */
const BUILT_IN_ROLES = ['assize', 'assize.tool'];

/**
 * The actions, roles and tools of a rule table that no given domain or tool has. A misspelled name
 * in a row that denies would deny nothing. Tools are compared only if they are given.
 *
 * @throws AuthorityError as `parseRuleTable`; ArgumentError `bad_argument`
 */
export function unknownNames(given: RuleTable, known: KnownNames): readonly UnknownName[] {
  const table = parseRuleTable(given);
  checkArgument(KNOWN, known, 'known');
  const { domains, tools } = known;
  const toolNames = (tools ?? []).map(({ name }) => name);
  const actions = [
    ...domains.flatMap((domain) => Object.keys(domain.actions)),
    ...BUILT_IN_ACTIONS,
    ...toolNames,
  ];
  const roles = new Set([
    ...domains.flatMap((domain) => Object.keys(domain.roles)),
    ...BUILT_IN_ROLES,
  ]);
  const isCall = ({ tool }: CallPattern): boolean =>
    toolNames.some((name) => matchesTool(tool, name));
  return table.rules.flatMap((rule, i) => {
    const found = (kind: UnknownName['kind'], at: string, name: string): UnknownName => ({
      rule: rule.id,
      pointer: `/rules/${i}/${at}`,
      kind,
      name,
    });
    return [
      ...rule.actions.flatMap((name, n) =>
        actions.some((action) => covers(name, action))
          ? []
          : [found('action', `actions/${n}`, name)],
      ),
      ...(rule.roles ?? []).flatMap((name, n) =>
        roles.has(name) ? [] : [found('role', `roles/${n}`, name)],
      ),
      ...(tools === undefined ? [] : (rule.calls ?? [])).flatMap((call, n) =>
        isCall(call) ? [] : [found('tool', `calls/${n}/tool`, call.tool)],
      ),
    ];
  });
}

const KNOWN = arg.members({
  domains: arg.list(arg.members({ actions: arg.object, roles: arg.object })),
  tools: arg.optional(arg.list(arg.members({ name: arg.text }))),
});
