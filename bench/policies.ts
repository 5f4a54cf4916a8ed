/** Cedar compared with the rule table: decisions per second, on the same rules and questions. */
import { type Policy, ruleTable } from 'assize';
import type { PolicyQuery, Rule } from '#authority';
import { cedarPolicy } from '#integrations/cedar';
import { type BenchResult, compare, formatTable, keep, rateResult } from './measure.ts';

/** Rules of the same meaning, few and many. */
const SIZES = [2, 20, 200];

export async function policiesBench(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const size of SIZES) results.push(await beside(size));
  return results;
}

async function beside(size: number): Promise<BenchResult> {
  const [table, cedar] = [tableOf(size), await cedarOf(size)];
  for (const query of QUERIES) {
    const [one, other] = [table.evaluate(query).decision, cedar.evaluate(query).decision];
    if (one !== other)
      throw new Error(`The rule table says ${one} and Cedar ${other} of ${JSON.stringify(query)}.`);
  }
  const [tableRate, cedarRate] = await compare([
    contender('rule table', table),
    contender('cedar', cedar),
  ]);
  return rateResult({ ...cedarRate!, name: `decisions of Cedar, ${size} rules` }, tableRate);
}

function contender(name: string, policy: Policy) {
  let next = 0;
  return {
    name,
    run: (count: number): void => {
      for (let i = 0; i < count; i++)
        keep(policy.evaluate(QUERIES[next++ % QUERIES.length] as PolicyQuery));
    },
  };
}

/** One rule allows a role, every other one denies an amount. */
function tableOf(size: number): Policy {
  const denials = Array.from({ length: size - 1 }, (_, i): Rule => {
    return {
      id: `d${i}`,
      effect: 'deny',
      actions: ['spend'],
      where: [{ path: '/amount', is: 1_000 + i }],
    };
  });
  const allow: Rule = { id: 'all', effect: 'allow', actions: ['spend'], roles: ['spender'] };
  return ruleTable({ id: 'bench', otherwise: 'deny', rules: [allow, ...denials] });
}

function cedarOf(size: number): Promise<Policy> {
  const denials = Array.from(
    { length: size - 1 },
    (_, i) =>
      `@id("d${i}") forbid(principal, action == Action::"spend", resource) when { context.args.amount == ${1_000 + i} };`,
  );
  const allow =
    '@id("all") permit(principal in Role::"spender", action == Action::"spend", resource);';
  return cedarPolicy({ policies: [allow, ...denials].join('\n'), schema: SCHEMA });
}

const SCHEMA = `
  entity Role; entity Principal in [Role]; entity Trajectory;
  action spend appliesTo { principal: [Principal], resource: [Trajectory], context: { args: { amount: Long } } };
`;

const QUERIES: readonly PolicyQuery[] = Array.from({ length: 1_024 }, (_, i) => ({
  action: 'spend',
  role: { name: i % 5 === 0 ? 'auditor' : 'spender', params: { agent: 'ada' } },
  args: { amount: i % 7 === 0 ? 1_000 : i, note: 'coffee' },
  scopes: ['role:spender:ada'],
  principal: `agent:${i % 100}`,
  writ_id: 'f'.repeat(64),
  trajectory_id: 'bench',
  at: '2026-01-01T00:00:00.000000Z',
}));

if (import.meta.main) console.log(formatTable(await policiesBench()));
