import type { Content } from '../bundle/verify.ts';
import { isObject } from '../entries/basic-forms.ts';
import type {
  ActionRecord,
  Amounts,
  Commit,
  Delegation,
  Delta,
  Entry,
  Pending,
  PolicyRecord,
  Rejection,
  Stored,
} from '../entries/payloads.ts';
import { decisionFacts } from './decision-facts.ts';
import { type Child, element, facts } from './element.ts';
import { code, inert, json } from './inert.ts';
import { nameOfEntry } from './names.ts';

/**
 * Everything that an entry says, as a reader asks: which rule, what it did, and by which person.
 */
export function entryFacts({ payload }: Entry, content: Content): readonly Child[] {
  switch (payload.kind) {
    case 'commit':
      return committed(payload, content);
    case 'rejection':
      return rejected(payload, content);
    case 'pending_approval':
      return pending(payload, content);
    case 'delegation':
      return delegated(payload, content);
    case 'key_change':
      return [facts(['New key', code(payload.to)], ['Reason', inert(payload.reason)])];
    default: {
      const { domain, note, compiler_version: compiler } = payload;
      return [
        facts(
          ['Domain', inert(`${domain.name} ${domain.version}`)],
          ['Note', note === undefined ? undefined : inert(note)],
          ['Compiler', inert(compiler)],
        ),
      ];
    }
  }
}

function committed(payload: Commit, content: Content): readonly Child[] {
  const { action, amended, delta, policy, detection_vector: vector = [], writ_id: writ } = payload;
  return [
    facts(
      ...roleFacts(action.role),
      ...decisionFacts(payload, content.part),
      ['Rules not passed', violations(vector)],
      ...policyFacts(policy),
      ['Writ', writOf(writ, payload.trajectory_id, content)],
      ['Cost', amounts(payload.budget_cost)],
    ),
    ...held('Arguments', action.args, content),
    ...(amended === undefined
      ? []
      : held('Arguments before the amendment', amended.action.args, content)),
    ...calls(delta, content),
    ...changes(delta, content),
  ];
}

function rejected(payload: Rejection, content: Content): readonly Child[] {
  const { intent, detail, reason, invariant_id: rule, policy, writ_id: writ } = payload;
  return [
    facts(
      ['Why', inert(detail)],
      ['Rule', rule === undefined ? inert(reason) : [inert(rule), ' (', inert(reason), ')']],
      ...roleFacts(intent.role),
      ...decisionFacts(payload, content.part),
      ...policyFacts(policy),
      ['Writ', writ === undefined ? undefined : writOf(writ, payload.trajectory_id, content)],
    ),
    ...held('Arguments', intent.args, content),
    ...(intent.calls === undefined ? [] : held('Calls that were planned', intent.calls, content)),
  ];
}

function pending(payload: Pending, content: Content): readonly Child[] {
  const {
    proposal,
    detail,
    reason,
    invariant_id: rule,
    channel,
    expires,
    deputies = [],
    digest,
    policy,
    approvals = 1,
  } = payload;
  return [
    facts(
      ['Why', inert(detail)],
      ['Rule', rule === undefined ? inert(reason) : [inert(rule), ' (', inert(reason), ')']],
      ['Asks for', [inert(channel), approvals > 1 ? `, ${approvals} people` : undefined]],
      [
        'Deputies',
        deputies.map(({ of, kind, from }) =>
          element('div', {}, inert(`${kind} for ${of} from ${from}`)),
        ),
      ],
      ['Expires', expires],
      ...roleFacts(proposal.action.role),
      ...decisionFacts(payload, content.part),
      ...policyFacts(policy),
      ['Writ', writOf(proposal.writ_id, payload.trajectory_id, content)],
      ['Cost', amounts(proposal.budget_cost)],
      ['Digest', code(digest)],
    ),
    ...held('Arguments', proposal.action.args, content),
    ...calls(proposal.delta, content),
    ...changes(proposal.delta, content),
  ];
}

function delegated(payload: Delegation, content: Content): readonly Child[] {
  const {
    task,
    child_trajectory_id: child,
    concludes,
    final_answer: answer,
    budget_cost: cost,
  } = payload;
  return [
    facts(
      ['Task', inert(task)],
      ['To', inert(child)],
      ['Of', concludes === undefined ? undefined : nameOfEntry(concludes, content.part)],
      ['Cost', cost === undefined ? undefined : amounts(cost)],
    ),
    ...(answer === undefined ? [] : held('Answer', answer, content)),
  ];
}

function roleFacts({
  name,
  params,
}: ActionRecord['role']): readonly (readonly [string, Child | readonly Child[]])[] {
  const all = Object.entries(params).map(([key, value]) => `${key}: ${value}`);
  return [['Role', [inert(name), all.length === 0 ? undefined : ', ', ...all.map(inert)]]];
}

function policyFacts(
  policy: PolicyRecord | undefined,
): readonly (readonly [string, Child | readonly Child[]])[] {
  if (policy === undefined) return [];
  const { decision, rule, digest } = policy;
  return [
    [
      'Policy',
      [
        decision.replaceAll('_', ' '),
        rule === undefined ? ' by ' : ', rule ',
        rule === undefined ? undefined : inert(rule),
        rule === undefined ? undefined : ' of ',
        code(digest),
      ],
    ],
  ];
}

function violations(vector: NonNullable<Commit['detection_vector']>): readonly Child[] {
  return vector
    .filter(({ result }) => result !== 'pass')
    .map(({ invariant_id: id, result, detail }) =>
      element(
        'div',
        {},
        inert(id),
        ` (${result})`,
        detail === undefined ? undefined : ': ',
        inert(detail ?? ''),
      ),
    );
}

/** The subject of a writ: the agent that proposed. */
function writOf(id: string, trajectory: string, { part }: Content): readonly Child[] {
  const writ = part.writ(id, trajectory);
  const subject = isObject(writ) ? writ['subject'] : undefined;
  return [
    typeof subject === 'string' ? inert(subject) : undefined,
    typeof subject === 'string' ? ', ' : undefined,
    code(`${id.slice(0, 12)}…`),
  ];
}

function amounts(cost: Amounts): Child {
  const all = Object.entries(cost).map(
    ([unit, amount]) => `${amount.toLocaleString('en')} ${unit}`,
  );
  return all.length === 0 ? undefined : inert(all.join(', '));
}

function held(label: string, stored: Stored, { part }: Content): readonly Child[] {
  const found = part.valueOf(stored);
  const name = element('h4', {}, label);
  if ('erasedBy' in found)
    return [
      name,
      element('p', {}, 'The value was erased by ', nameOfEntry(found.erasedBy, part), '.'),
    ];
  return [
    name,
    found.value === undefined
      ? element('p', {}, 'The value is not in the bundle.')
      : json(found.value, label),
  ];
}

/** The tool calls of an entry. */
function calls({ effects }: Delta, content: Content): readonly Child[] {
  return effects.flatMap(({ effect }) => {
    const found = content.part.valueOf(effect);
    const call = 'value' in found && isObject(found.value) ? found.value : undefined;
    const tool = call?.['tool'];
    const label = typeof tool === 'string' ? `Call of ${tool}` : 'Call';
    return call === undefined || !('input' in call)
      ? held(label, effect, content)
      : held(label, call['input'], content);
  });
}

/** The operations of an entry on the state. */
function changes({ state }: Delta, content: Content): readonly Child[] {
  const found = content.part.valueOf(state);
  if (!('value' in found) || !Array.isArray(found.value))
    return held('Changes of the state', state, content);
  if (found.value.length === 0) return [];
  const rows = found.value.filter(isObject).map((one) => {
    const value = content.part.valueOf(one['value']);
    const text =
      one['op'] === 'remove' ? '' : 'erasedBy' in value ? 'erased' : JSON.stringify(value.value);
    return element(
      'tr',
      {},
      element('td', {}, inert(String(one['op']))),
      element('td', {}, inert(String(one['path']))),
      element('td', {}, inert(text ?? '')),
    );
  });
  return [
    element('h4', {}, 'Changes of the state'),
    element('table', { class: 'changes' }, element('tbody', {}, ...rows)),
  ];
}
