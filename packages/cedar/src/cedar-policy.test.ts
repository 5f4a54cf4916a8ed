import type { PolicyDecision, PolicyQuery } from 'assize/internal/authority';
import { contentHash } from 'assize/internal/canon';
import { describe, expect, test } from 'vitest';
import { policyOf } from './cedar-policy.ts';
import { type CedarEngine, loadEngine } from './engine.ts';
import { CedarError, cedarPolicy } from './index.ts';
import { Slots } from './slots.ts';

const SCHEMA = `
  entity Role;
  entity Principal in [Role];
  entity Trajectory;
  type Money = Long;
  action money;
  type Shown = {
    role: String, writ: String, at: datetime, scopes: Set<String>, params: { agent?: String },
    args: { amount: Money, price?: decimal, tags?: Set<String>, counts?: Set<Long>, sure?: Bool, "/to/0/city"?: String, "odd name"?: String },
  };
  action spend in [money] appliesTo { principal: [Principal], resource: [Trajectory], context: Shown };
  action refund appliesTo { principal: [Principal], resource: [Trajectory], context: Shown };
`;

const POLICIES = `
  @id("small") @because("Small change.")
  permit(principal, action in Action::"money", resource) when { context.args.amount < 100 };
  @id("large") @approval("required")
  permit(principal, action, resource) when { context.args.amount >= 50 };
  forbid(principal, action, resource) when { context.args has tags && context.args.tags.contains("cash") };
  @id("overflow") forbid(principal, action, resource) when { context.args.amount == 70 && context.args.amount * 922337203685477580 > 0 };
`;

function ask(args: PolicyQuery['args'], change: Partial<PolicyQuery> = {}): PolicyQuery {
  return {
    action: 'spend',
    role: { name: 'spender', params: { agent: 'ada' } },
    args,
    scopes: ['role:spender:ada', 'shop:1'],
    principal: 'agent:ada',
    writ_id: 'f'.repeat(64),
    trajectory_id: 't1',
    at: '2026-01-01T09:00:00.000900Z',
    ...change,
  };
}

/** Whether one condition holds for a proposal. Throws if it cannot be evaluated. */
async function holds(
  condition: string,
  query: PolicyQuery,
  schema: string = SCHEMA,
): Promise<boolean | string> {
  const policies = `permit(principal, action, resource) when { ${condition} };`;
  const { decision, errors } = (await cedarPolicy({ policies, schema })).evaluate(query);
  return errors.length > 0 ? errors.join() : decision === 'allow';
}

async function codeOf(options: { policies: unknown; schema: unknown }): Promise<string> {
  try {
    await cedarPolicy(options as never);
    return 'taken';
  } catch (error) {
    if (!(error instanceof CedarError)) throw error;
    expect(error.evidence['problems']).not.toHaveLength(0);
    return `${error.code}: ${error.message}`;
  }
}

describe('the decision of Cedar policies', () => {
  test.each<[PolicyQuery['args'], Partial<PolicyDecision>]>([
    [{ amount: 5 }, { decision: 'allow', rule: 'small', reasons: ['Small change.'], errors: [] }],
    [
      { amount: 60 },
      {
        decision: 'needs_approval',
        rule: 'large',
        reasons: ['The policy large applies.'],
        errors: [],
      },
    ],
    [{ amount: 100 }, { decision: 'needs_approval', rule: 'large' }],
    [
      { amount: 60, tags: ['cash'] },
      { decision: 'deny', rule: 'policy2', errors: [] },
    ],
    // Cedar itself allows here: it skips the forbid that it cannot evaluate.
    [
      { amount: 70 },
      {
        decision: 'deny',
        reasons: [],
        errors: [expect.stringMatching(/^Cedar: overflow: integer overflow/)],
      },
    ],
  ])('of %j', async (args, decision) => {
    const policy = await cedarPolicy({ policies: POLICIES, schema: SCHEMA });
    expect(policy.evaluate(ask(args))).toMatchObject(decision);
  });

  test('nothing is allowed by default, and no action that is not declared', async () => {
    const policy = await cedarPolicy({ policies: '', schema: SCHEMA });
    expect(policy.evaluate(ask({ amount: 1 }))).toEqual({
      decision: 'deny',
      reasons: ['No policy permits it.'],
      errors: [],
    });
    for (const action of ['steal', 'money', '__proto__', 'toString']) {
      const { decision, errors } = policy.evaluate(ask({ amount: 1 }, { action }));
      expect([decision, errors[0]]).toEqual([
        'deny',
        expect.stringContaining(`declares no action "${action}"`),
      ]);
    }
  });

  test('policies without an id are named by their place, also the eleventh', async () => {
    const lines = Array.from(
      { length: 13 },
      (_, i) => `permit(principal, action, resource) when { context.args.amount == ${i} };`,
    );
    const policy = await cedarPolicy({ policies: lines.join('\n'), schema: SCHEMA });
    for (let i = 0; i < 13; i++)
      expect(policy.evaluate(ask({ amount: i })).rule).toBe(`policy${i}`);
  });
});

describe('the query that a policy receives', () => {
  test.each([
    'principal == Principal::"agent:ada"',
    'principal in Role::"spender"',
    'action == Action::"spend" && action in Action::"money"',
    'resource == Trajectory::"t1"',
    'context.role == "spender" && context.params has agent && context.params.agent == "ada"',
    'context.scopes.containsAll(["shop:1", "role:spender:ada"])',
    `context.writ == "${'f'.repeat(64)}"`,
    'context.at == datetime("2026-01-01T09:00:00.000Z")',
    'context.args.amount == 7',
    'context.args has price && context.args.price == decimal("1.25")',
    'context.args has tags && context.args.tags == ["a", "b"] && context.args has counts && context.args.counts.contains(-3)',
    'context.args has sure && context.args.sure',
    'context.args has "/to/0/city" && context.args["/to/0/city"] == "Rome"',
    'context.args has "odd name" && context.args["odd name"] == "{\\"__entity\\":1}"',
  ])('%s', async (condition) => {
    const args = {
      amount: 7,
      price: 1.25,
      tags: ['a', 'b', 'a'],
      counts: [-3],
      sure: true,
      to: [{ city: 'Rome' }],
      'odd name': '{"__entity":1}',
      more: { __entity: { type: 'Role', id: 'boss' } },
    };
    expect(await holds(condition, ask(args))).toBe(true);
    expect(await holds(`!(${condition})`, ask(args))).toBe(false);
  });

  test.each<[PolicyQuery['args'], string]>([
    [{}, 'the schema requires the argument amount'],
    [null, 'cannot be located: the arguments are null, which has no "'],
    [[1], 'cannot be located: the arguments are a list, which has no "'],
    [{ amount: null }, 'the argument amount is null, not a Cedar Long'],
    [{ amount: 1.5 }, 'the argument amount is a number with a fraction'],
    [{ amount: 2 ** 53 }, 'the argument amount is a large number'],
    [{ amount: '1' }, 'the argument amount is a text'],
    [{ amount: { __extn: { fn: 'decimal', arg: '1.0' } } }, 'the argument amount is an object'],
    // Optional ones too: without them, a rule that forbids by them would not apply.
    [{ amount: 1, tags: null }, 'the argument tags is null'],
    [{ amount: 1, tags: ['a', 1] }, 'the argument tags/1 is a whole number, not a Cedar String'],
    [
      { amount: 1, tags: { __entity: { type: 'Role', id: 'x' } } },
      'the argument tags is an object, not a Cedar Set<String>',
    ],
    [
      { amount: 1, price: 0.1 + 0.2 },
      'the argument price is a number with a fraction, not a Cedar decimal',
    ],
    [{ amount: 1, price: 1e21 }, 'the argument price is a large number'],
    [{ amount: 1, price: 'one' }, 'the argument price is a text'],
    [{ amount: 1, sure: 1 }, 'the argument sure is a whole number, not a Cedar Bool'],
    [{ amount: 1, to: [{ city: [] }] }, 'the argument /to/0/city is a list'],
    // So does a container above it with another shape.
    [
      { amount: 1, to: 'Rome' },
      'the argument /to/0/city cannot be located: /to is a text, which has no "0"',
    ],
    [
      { amount: 1, to: null },
      'the argument /to/0/city cannot be located: /to is null, which has no "0"',
    ],
    [
      { amount: 1, to: { city: 'Rome' } },
      'the argument /to/0/city cannot be located: /to is an object, which has no "0"',
    ],
    [
      { amount: 1, to: ['Rome'] },
      'the argument /to/0/city cannot be located: /to/0 is a text, which has no "city"',
    ],
    [
      { amount: 1, to: [['Rome']] },
      'the argument /to/0/city cannot be located: /to/0 is a list, which has no "city"',
    ],
    [{ amount: 1, 'odd name': 'half \ud800' }, 'the argument odd name is not a Unicode string'],
    [
      { amount: 1, 'odd name': 'x'.repeat(1_048_577) },
      'the request has more than the limit of 1048576 characters',
    ],
    [
      { amount: 1, counts: Array.from({ length: 1_048_577 }, () => 1) },
      'the request has more than the limit of 1048576 characters',
    ],
  ])('is a denial for %#, with its reason', async (args, problem) => {
    const policy = await cedarPolicy({
      policies: 'permit(principal, action, resource);',
      schema: SCHEMA,
    });
    const { decision, errors } = policy.evaluate(ask(args));
    expect(decision).toBe('deny');
    expect(errors).toEqual([expect.stringContaining(problem)]);
  });

  test('decimals may be texts, and whole', async () => {
    for (const price of ['1.0', 1, '1.00']) {
      expect(
        await holds(
          'context.args has price && context.args.price == decimal("1.0")',
          ask({ amount: 1, price }),
        ),
      ).toBe(true);
    }
    const least = ask({ amount: 1, price: -0.0001 });
    expect(
      await holds('context.args has price && context.args.price.lessThan(decimal("0.0"))', least),
    ).toBe(true);
  });

  test('an argument is there only where it is a member of its own', async () => {
    const schema =
      'entity Principal; entity Trajectory; action spend appliesTo { principal: [Principal], resource: [Trajectory], context: { args: { toString?: String, "/list/length"?: Long } } };';
    expect(await holds('!(context.args has toString)', ask({ list: {} }), schema)).toBe(true);
    expect(await holds('!(context.args has "/list/length")', ask({ list: {} }), schema)).toBe(true);
    expect(await holds('true', ask({ list: [1, 2] }), schema)).toMatch(
      /\/list is a list, which has no "length"/,
    );
    expect(await holds('context.args has toString', ask({ toString: 'own' }), schema)).toBe(true);
  });

  test('an optional argument is absent for an empty path in lists and objects', async () => {
    const absent = '!(context.args has "/to/0/city")';
    for (const more of [{}, { to: [] }, { to: [{}] }, { to: [{ zip: 1 }] }, { to: { 0: {} } }])
      expect(await holds(absent, ask({ amount: 1, ...more }))).toBe(true);
    const is = 'context.args has "/to/0/city" && context.args["/to/0/city"] == "Rome"';
    expect(await holds(is, ask({ amount: 1, to: { 0: { city: 'Rome' } } }))).toBe(true);
  });

  test('a whole argument that is not an object, by its pointer', async () => {
    const schema =
      'entity Principal; entity Trajectory; action spend appliesTo { principal: [Principal], resource: [Trajectory], context: { args: { ""?: Long } } };';
    expect(await holds('context.args has "" && context.args[""] == 5', ask(5), schema)).toBe(true);
    expect(await holds('true', ask({}), schema)).toMatch(/is an object, not a Cedar Long/);
  });
});

describe('the calls that a policy receives', () => {
  const schemaOf = (call: string): string => `
    entity Role; entity Principal in [Role]; entity Trajectory;
    action spend appliesTo { principal: [Principal], resource: [Trajectory], context: { args: { amount: Long }${call} } };`;
  const CALLS = schemaOf(
    ', call?: { "bank.pay"?: { cents: Long, "/to/city"?: String, tags?: Set<String> }, "mail.send"?: {} }',
  );
  const RULES = `
    @id("none") permit(principal, action, resource) unless { context has call };
    @id("mail") permit(principal, action, resource) when { context has call && context.call has "mail.send" };
    @id("pay") permit(principal in Role::"spender", action, resource)
    when { context has call && context.call has "bank.pay" && context.call["bank.pay"].cents <= context.args.amount };
    @id("large") @approval("required") permit(principal, action, resource)
    when { context has call && context.call has "bank.pay" && context.call["bank.pay"].cents > 500 };
    @id("city") forbid(principal, action, resource)
    when { context has call && context.call has "bank.pay" && context.call["bank.pay"] has "/to/city"
      && context.call["bank.pay"]["/to/city"] == "Rome" };
    @id("cap") forbid(principal, action, resource)
    when { context has call && context.call has "bank.pay" && context.call["bank.pay"].cents > 9000 };
    @id("overflow") forbid(principal, action, resource)
    when { context has call && context.call has "bank.pay" && context.call["bank.pay"].cents == 7
      && context.call["bank.pay"].cents * 9223372036854775800 > 0 };`;
  const pay = (cents: number, more = {}) => ({ tool: 'bank.pay', input: { cents, ...more } });
  const mail = { tool: 'mail.send', input: { text: null } };

  type Decided = Pick<PolicyDecision, 'decision'> & Partial<PolicyDecision>;
  const allow = (rule: string): Decided => ({ decision: 'allow', rule, errors: [] });
  test.each<[string, PolicyQuery['calls'], Decided]>([
    ['no calls', undefined, allow('none')],
    ['an empty list of calls', [], allow('none')],
    ['one call', [pay(50)], allow('pay')],
    ['two calls', [pay(50), mail], allow('mail')],
    [
      'a call that nothing permits',
      [pay(101)],
      { decision: 'deny', reasons: ['No policy permits it.'], errors: [] },
    ],
    ['the same next to a permitted one', [mail, pay(101)], { decision: 'deny', errors: [] }],
    ['the same, first', [pay(101), mail], { decision: 'deny', errors: [] }],
    ['a call that needs approval', [mail, pay(501)], { decision: 'needs_approval', rule: 'large' }],
    ['a forbidden call next to it', [pay(501), pay(9_001)], { decision: 'deny', rule: 'cap' }],
    [
      'two forbidden calls',
      [pay(9_001), pay(1, { to: { city: 'Rome' } })],
      { decision: 'deny', rule: 'city' },
    ],
    [
      'a forbidden call next to one that nothing permits',
      [pay(101), pay(9_001)],
      { decision: 'deny', rule: 'cap' },
    ],
    [
      'a call that cannot be evaluated',
      [pay(1), pay(7), pay(9_001)],
      {
        decision: 'deny',
        reasons: [],
        errors: [expect.stringMatching(/^Cedar: overflow: integer overflow/)],
      },
    ],
  ])('%s', async (_what, calls, decision) => {
    const policy = await cedarPolicy({ policies: RULES, schema: CALLS });
    expect(
      policy.evaluate(ask({ amount: 100 }, calls === undefined ? {} : { calls })),
    ).toMatchObject(decision);
  });

  test.each<[string, NonNullable<PolicyQuery['calls']>, string]>([
    [
      'a tool that is not declared',
      [mail, { tool: 'bank.wire', input: {} }],
      'no call of "bank.wire" for the action',
    ],
    ['a name of Object', [{ tool: 'toString', input: {} }], 'no call of "toString"'],
    [
      'a missing member',
      [{ tool: 'bank.pay', input: {} }],
      'the schema requires the bank.pay input cents',
    ],
    [
      'another kind',
      [mail, pay(1.5)],
      'the bank.pay input cents is a number with a fraction, not a Cedar Long',
    ],
    [
      'another kind in a list',
      [pay(1, { tags: ['a', 2] })],
      'the bank.pay input tags/1 is a whole number',
    ],
    [
      'an input that is a list',
      [{ tool: 'bank.pay', input: [1] }],
      'the bank.pay input /to/city cannot be located: the input is a list, which has no "to"',
    ],
    [
      'another shape',
      [pay(1, { to: 'Rome' })],
      'the bank.pay input /to/city cannot be located: /to is a text',
    ],
    [
      'too much text in all calls together',
      [1, 2, 3].map((cents) => pay(cents, { to: { city: 'x'.repeat(400_000) } })),
      'the request has more than the limit',
    ],
  ])('a denial, with the reason: %s', async (_what, calls, problem) => {
    const policy = await cedarPolicy({
      policies: 'permit(principal, action, resource);',
      schema: CALLS,
    });
    const { decision, errors } = policy.evaluate(ask({ amount: 1 }, { calls }));
    expect([decision, errors]).toEqual(['deny', [expect.stringContaining(problem)]]);
  });

  test('one required tool must be called, and no other', async () => {
    const policies =
      'permit(principal, action, resource) when { context.call["bank.pay"].cents < 5 };';
    const policy = await cedarPolicy({
      policies,
      schema: schemaOf(', call: { "bank.pay": { cents: Long } }'),
    });
    const decided = (...calls: NonNullable<PolicyQuery['calls']>) =>
      policy.evaluate(ask({ amount: 1 }, { calls }));
    expect(decided(pay(4)).decision).toBe('allow');
    expect(decided(pay(4), pay(5)).decision).toBe('deny');
    expect(decided().errors).toEqual([
      expect.stringContaining('requires a call, and the proposal makes none'),
    ]);
    expect(decided(mail).errors).toEqual([expect.stringContaining('no call of "mail.send"')]);
  });

  test('a schema without calls shows none, and decides as before', async () => {
    const policy = await cedarPolicy({
      policies: 'permit(principal, action, resource);',
      schema: schemaOf(''),
    });
    expect(policy.evaluate(ask({ amount: 1 }, { calls: [pay(1)] })).decision).toBe('allow');
    expect(policy.digest).toBe(
      contentHash({
        engine: 'assize/cedar/v2',
        cedar: await loadEngine().then(
          (engine) => `${engine.getCedarVersion()}/${engine.getCedarLangVersion()}`,
        ),
        policies: 'permit(principal, action, resource);',
        schema: schemaOf(''),
      }),
    );
  });
});

describe('the digest', () => {
  test('is of policies, schema and engine; not of the name', async () => {
    const options = { policies: POLICIES, schema: SCHEMA };
    const { digest } = await cedarPolicy(options);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect((await cedarPolicy({ ...options, id: 'another' })).digest).toBe(digest);
    const others = [
      { ...options, policies: `${POLICIES} ` },
      { ...options, schema: `${SCHEMA} ` },
    ];
    for (const other of others) expect((await cedarPolicy(other)).digest).not.toBe(digest);
    const engine = await loadEngine();
    const newer: CedarEngine = { ...engine, getCedarVersion: () => '99.0.0' };
    expect(policyOf(newer, new Slots(newer), { id: 'cedar', ...options }).digest).not.toBe(digest);
  });

  test('a schema may be JSON', async () => {
    const entity = (name: string) => ({ [name]: {} });
    const spend = {
      appliesTo: {
        principalTypes: ['Principal'],
        resourceTypes: ['Trajectory'],
        context: {
          type: 'Record',
          attributes: {
            args: {
              type: 'Record',
              attributes: {
                amount: { type: 'Long' },
                price: { type: 'Extension', name: 'decimal', required: false },
                sure: { type: 'Boolean', required: false },
              },
            },
          },
        },
      },
    };
    const schema = {
      '': { entityTypes: { ...entity('Principal'), ...entity('Trajectory') }, actions: { spend } },
    };
    const policy = await cedarPolicy({
      policies: 'permit(principal, action, resource) when { context.args.amount > 3 };',
      schema,
    });
    expect(policy.evaluate(ask({ amount: 4, price: 0.5, sure: false })).decision).toBe('allow');
    expect(policy.evaluate(ask({ amount: 3 })).decision).toBe('deny');
  });
});

describe('policies and schemas refused before any query', () => {
  const context = (members: string): string =>
    `entity Principal; entity Trajectory; action a appliesTo { principal: [Principal], resource: [Trajectory], context: { ${members} } };`;

  test.each<[string, { policies?: unknown; schema?: unknown }, RegExp]>([
    [
      'no Cedar',
      { policies: 'permit(principal, acti' },
      /^bad_input: The Cedar policies .*line 1, column 23: .*unexpected end of input/,
    ],
    [
      'no policies at all',
      { policies: undefined },
      /^bad_input: The Cedar policies .*must be a Unicode/,
    ],
    [
      'half a character',
      { policies: '\ud800' },
      /^bad_input: The Cedar policies .*must be a Unicode/,
    ],
    [
      'an argument that is not declared',
      { policies: 'permit(principal, action, resource)\nwhen { context.args.amout > 1 };' },
      /^bad_input: The Cedar policies .*line 2, column \d+: .*amout.*did you mean `amount`/,
    ],
    [
      'a place after what is not ASCII',
      { policies: 'permit(principal, action, resource) when { "é" == "é" && context.zip == 1 };' },
      /line 1, column 58: .*zip/,
    ],
    [
      'an optional one that is not asked for',
      { policies: 'permit(principal, action, resource) when { context.args.sure };' },
      /^bad_input: The Cedar policies .*context.args has sure/,
    ],
    [
      'a condition that never holds',
      { policies: 'forbid(principal, action, resource) when { context.args has amout };' },
      /^bad_input: The Cedar policies .*impossible/,
    ],
    [
      'another entity',
      { policies: 'forbid(principal in Group::"x", action, resource);' },
      /^bad_input: The Cedar policies .*Group/,
    ],
    [
      'another action',
      { policies: 'forbid(principal, action == Action::"spnd", resource);' },
      /^bad_input: The Cedar policies .*spnd/,
    ],
    [
      'a template',
      { policies: 'permit(principal == ?principal, action, resource);' },
      /^bad_input: The Cedar policies .*template/,
    ],
    [
      'the same id twice',
      {
        policies:
          '@id("a") permit(principal, action, resource); @id("a") forbid(principal, action, resource);',
      },
      /^bad_input: The Cedar policies .*two policies have the id "a"/,
    ],
    [
      'the id of another’s place',
      {
        policies:
          '@id("policy1") permit(principal, action, resource); permit(principal, action, resource);',
      },
      /^bad_input: The Cedar policies .*two policies have the id "policy1"/,
    ],
    [
      'an empty id',
      { policies: '@id("") permit(principal, action, resource);' },
      /^bad_input: The Cedar policies .*1 to 512 characters/,
    ],
    [
      'another approval',
      { policies: '@id("x") @approval("maybe") permit(principal, action, resource);' },
      /^bad_input: The Cedar policies .*x has @approval\("maybe"\)/,
    ],
    [
      'approval of what is forbidden',
      { policies: '@approval("required") forbid(principal, action, resource);' },
      /^bad_input: The Cedar policies .*put @approval on a permit/,
    ],
    [
      'no schema',
      { schema: undefined },
      /^bad_input: The Cedar schema .*must be a Unicode string, or an object/,
    ],
    ['a list', { schema: [] }, /^bad_input: The Cedar schema /],
    ['no JSON', { schema: { a: () => 1 } }, /^bad_input: The Cedar schema /],
    ['no schema in JSON', { schema: { a: 1 } }, /^bad_input: The Cedar schema .*expected struct/],
    [
      'half a schema',
      { schema: 'entity A' },
      /^bad_input: The Cedar schema .*line 1, column 9: .*unexpected end/,
    ],
    [
      'a namespace',
      { schema: `namespace N { ${context('')} }` },
      /^bad_input: The Cedar schema .*namespace N/,
    ],
    [
      'another entity type',
      { schema: `entity Group; ${context('')}` },
      /^bad_input: The Cedar schema .*no request has the entity type Group/,
    ],
    [
      'groups of principals',
      { schema: 'entity Group; entity Principal in [Group];' },
      /a Principal is never in a Group/,
    ],
    [
      'attributes',
      { schema: 'entity Principal { level: Long };' },
      /Principal declares attributes/,
    ],
    ['tags', { schema: 'entity Principal tags String;' }, /Principal declares tags/],
    [
      'another principal',
      {
        schema:
          'entity Role; entity Trajectory; action a appliesTo { principal: [Role], resource: [Trajectory] };',
      },
      /applies to Role, but must apply to Principal/,
    ],
    [
      'another member of the context',
      { schema: context('amount: Long') },
      /the context of a has amount; it can have role/,
    ],
    [
      'a role that is not a String',
      { schema: context('role: Long') },
      /has role with another type than String/,
    ],
    [
      'a parameter that is not a String',
      { schema: context('params: { agent: Long }') },
      /params.agent, which must be a String/,
    ],
    ['arguments that are not a record', { schema: context('args: Long') }, /args must be a record/],
    [
      'a record in the arguments',
      { schema: context('args: { to: { city: String } }') },
      /args.to, which can be/,
    ],
    ['a set of sets', { schema: context('args: { to: Set<Set<Long>> }') }, /args.to, which can be/],
    [
      'an entity in the arguments',
      { schema: context('args: { to: Principal }') },
      /args.to, which can be/,
    ],
    [
      'an address in the arguments',
      { schema: context('args: { to: ipaddr }') },
      /args.to, which can be/,
    ],
    [
      'no pointer',
      { schema: context('args: { "/~": Long }') },
      /args.\/~: The JSON pointer is not valid/,
    ],
    [
      'an escape of Cedar',
      { schema: context('args: { __entity: String }') },
      /has __entity, which Cedar reserves/,
    ],
    ['calls that are not a record', { schema: context('call: Long') }, /call must be a record/],
    ['calls of no tool', { schema: context('call?: {}') }, /has call without a tool/],
    [
      'a call of a group',
      { schema: context('call?: { "bank.*"?: {} }') },
      /call.bank.\*, which is not the name of a tool/,
    ],
    [
      'two required calls',
      { schema: context('call: { "bank.pay": {}, "mail.send"?: {} }') },
      /requires call.bank.pay, but each request has one call; make it optional/,
    ],
    [
      'an input that is not a record',
      { schema: context('call: { pay: Long }') },
      /call.pay must be a record/,
    ],
    [
      'a record in an input',
      { schema: context('call: { pay: { to: { x: Long } } }') },
      /call.pay.to, which can be/,
    ],
    [
      'no pointer in an input',
      { schema: context('call: { pay: { "/~": Long } }') },
      /call.pay.\/~: The JSON pointer/,
    ],
  ])('%s', async (_what, change, message) => {
    const options = { policies: '', schema: SCHEMA, ...change };
    expect(await codeOf(options)).toMatch(message);
  });
});

describe('an engine that fails', () => {
  test('denies, then answers the next query', async () => {
    const engine = await loadEngine();
    let broken = false;
    const failing: CedarEngine = {
      ...engine,
      statefulIsAuthorized: (call) => {
        if (broken) throw new Error('unreachable');
        return engine.statefulIsAuthorized(call);
      },
    };
    const policy = policyOf(failing, new Slots(failing), {
      id: 'c',
      policies: POLICIES,
      schema: SCHEMA,
    });
    expect(policy.evaluate(ask({ amount: 1 })).decision).toBe('allow');
    broken = true;
    expect(policy.evaluate(ask({ amount: 1 }))).toEqual({
      decision: 'deny',
      reasons: [],
      errors: ['Cedar failed: unreachable'],
    });
    broken = false;
    expect(policy.evaluate(ask({ amount: 1 })).decision).toBe('allow');
  });

  test('never receives input that makes it throw, since each throw leaks memory', async () => {
    const policy = await cedarPolicy({ policies: POLICIES, schema: SCHEMA });
    for (let i = 0; i < 5_000; i++) {
      const bad = '\udc00';
      const change = [
        { principal: bad },
        { trajectory_id: bad },
        { role: { name: bad, params: {} } },
        { scopes: [bad] },
      ][i % 4];
      expect(
        policy.evaluate(ask({ amount: 1, 'odd name': 'x' }, change as Partial<PolicyQuery>))
          .errors[0],
      ).toMatch(/not a Unicode string/);
    }
    expect(policy.evaluate(ask({ amount: 1 })).decision).toBe('allow');
  });
});

describe('the policy cache of Cedar', () => {
  test('is bounded: the least recently used set is evicted and reloaded on use', async () => {
    const engine = await loadEngine();
    const names: string[] = [];
    const watched: CedarEngine = {
      ...engine,
      preparsePolicySet: (name, policies) => {
        names.push(name);
        return engine.preparsePolicySet(name, policies);
      },
    };
    const slots = new Slots(watched, 3);
    const policies = Array.from({ length: 5 }, (_, i) =>
      policyOf(watched, slots, {
        id: `p${i}`,
        schema: SCHEMA,
        policies: `permit(principal, action, resource) when { context.args.amount == ${i} };`,
      }),
    );
    for (let round = 0; round < 4; round++) {
      for (const [i, policy] of policies.entries()) {
        expect(policy.evaluate(ask({ amount: i })).decision).toBe('allow');
        expect(policy.evaluate(ask({ amount: i + 1 })).decision).toBe('deny');
      }
    }
    expect(new Set(names).size).toBe(3);
    expect(names).toHaveLength(20);
    for (let i = 0; i < 9; i++) policies[4 - (i % 3)]?.evaluate(ask({ amount: 1 }));
    expect(names).toHaveLength(20);
  });

  test('a name that could not be filled is used for another', async () => {
    const engine = await loadEngine();
    let full = true;
    const failing: CedarEngine = {
      ...engine,
      preparseSchema: (name, schema) =>
        full
          ? { type: 'failure', errors: [{ message: 'no room', help: null }] }
          : engine.preparseSchema(name, schema),
    };
    const slots = new Slots(failing, 1);
    const policy = policyOf(failing, slots, { id: 'p', policies: POLICIES, schema: SCHEMA });
    expect(policy.evaluate(ask({ amount: 1 })).errors).toEqual(['Cedar failed: no room']);
    full = false;
    expect(policy.evaluate(ask({ amount: 1 })).decision).toBe('allow');
  });

  test('is separate: another copy with its own names is not queried instead', async () => {
    const engine = await loadEngine();
    const of = (amount: number) =>
      `permit(principal, action, resource) when { context.args.amount == ${amount} };`;
    const [one, two] = [1, 2].map((amount) =>
      policyOf(engine, new Slots(engine, 1), { id: 'p', schema: SCHEMA, policies: of(amount) }),
    );
    expect([
      one?.evaluate(ask({ amount: 1 })).decision,
      two?.evaluate(ask({ amount: 2 })).decision,
    ]).toEqual(['allow', 'allow']);
    expect(one?.evaluate(ask({ amount: 1 })).decision).toBe('allow');
  });
});
