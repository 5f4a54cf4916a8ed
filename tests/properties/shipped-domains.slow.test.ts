import { expect, test } from 'vitest';
import { budget } from '#domains/budget';
import { disclosure } from '#domains/disclosure';
import { gateway } from '#domains/gateway';
import { incident } from '#domains/incident';
import { udt } from '#domains/udt';
import { checkDomain, type DomainReport } from '#testing';
import { airline } from '../../examples/domains/airline/index.ts';
import { smallWorld } from '../../examples/domains/airline/testing/small-world.ts';
import { smallPortfolio } from '../../examples/domains/disclosure/testing/small-portfolio.ts';
import { moderation } from '../../examples/domains/moderation/index.ts';
import { halfAYear } from '../../examples/domains/moderation/testing/half-a-year.ts';
import { retail } from '../../examples/domains/retail/index.ts';
import { smallArguments } from '../../examples/domains/retail/testing/arguments.ts';
import { smallWorld as smallShop } from '../../examples/domains/retail/testing/small-world.ts';
import { verification } from '../../examples/domains/verification/index.ts';
import { Lab } from '../../examples/domains/verification/testing/lab.ts';
import { cases, hasUsualCases } from '../support/cases.ts';
import { busyGateway, gatewayArguments } from '../support/domains/gateway/busy-gateway.ts';
import { approvedIncident } from '../support/domains/incident/approved-incident.ts';

function expectSound(report: DomainReport): void {
  expect(report.problems.filter(({ level }) => level === 'error')).toEqual([]);
  expect(report.ok, report.formatReport()).toBe(true);
  if (hasUsualCases()) expect(report.proposals.committed).toBeGreaterThan(0);
}

test('budget', () => {
  const report = checkDomain(budget, { runs: cases(500) });
  expectSound(report);
  expect(report.problems).toEqual([]);
});

test('udt', () => expectSound(checkDomain(udt, { runs: cases(1_000) })));

test('disclosure', async () => {
  const states = await smallPortfolio();
  expectSound(checkDomain(disclosure, { runs: cases(1_000), states }));
});

test('gateway', async () => {
  const states = await busyGateway();
  const roles = { agent: [{ agent: 'ada' }, { agent: 'ben' }] };
  const counselors = { approver: 'human:grace' };
  expectSound(
    checkDomain(gateway(), {
      runs: cases(2_000),
      states,
      roles,
      counselors,
      args: gatewayArguments,
    }),
  );
});

test('incident', () => {
  const roles = { opener: [{ incident: 'i' }], carrier: [{ incident: 'i' }] };
  expectSound(
    checkDomain(incident, {
      runs: cases(500),
      states: [approvedIncident()],
      roles,
      counselors: { responder: 'human:ida' },
    }),
  );
});

test('airline', () =>
  expectSound(checkDomain(airline, { runs: cases(200), states: [smallWorld()] })));

test('retail', () => {
  const roles = { agent: [{ user: 'ann' }, { user: 'bob' }] };
  const paidByGiftCard = smallShop(({ orders }) => {
    orders['ann']!['P']!.payment_history[0]!.payment_method_id = 'gift100';
  });
  const options = { states: [smallShop(), paidByGiftCard], roles, args: smallArguments };
  const report = checkDomain(retail, { runs: cases(3_000), ...options });
  expectSound(report);
  // With the usual number of runs, each action is executed and each footprint is used.
  if (hasUsualCases()) expect(report.problems).toEqual([]);
});

test('moderation', async () =>
  expectSound(checkDomain(moderation, { runs: cases(1_000), states: [await halfAYear()] })));

test('verification', async () => {
  const lab = await Lab.open();
  await lab.verified();
  await lab.done('report', { report: 'p1', verdict: 'v1' });
  const counselors = { expert: 'expert:ada' };
  expectSound(checkDomain(verification, { runs: cases(1_000), states: [lab.state], counselors }));
});
