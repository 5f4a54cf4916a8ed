import { airline } from 'assize/domains/airline';
import { budget } from 'assize/domains/budget';
import { disclosure } from 'assize/domains/disclosure';
import { udt } from 'assize/domains/udt';
import { checkDomain, type DomainReport } from 'assize/testing';
import { expect, test } from 'vitest';
import { smallWorld } from '../../domains/airline/testing/small-world.ts';
import { smallPortfolio } from '../../domains/disclosure/testing/small-portfolio.ts';
import { cases } from '../support/cases.ts';

function expectSound(report: DomainReport): void {
  expect(report.problems.filter(({ level }) => level === 'error')).toEqual([]);
  expect(report.ok, report.formatReport()).toBe(true);
  expect(report.proposals.committed).toBeGreaterThan(0);
}

test('budget, of which nothing at all is to be said', () => {
  const report = checkDomain(budget, { runs: cases(500) });
  expectSound(report);
  expect(report.problems).toEqual([]);
});

test('udt', () => expectSound(checkDomain(udt, { runs: cases(1_000) })));

test('disclosure', async () => {
  const states = await smallPortfolio();
  expectSound(checkDomain(disclosure, { runs: cases(1_000), states }));
});

test('airline', () => expectSound(checkDomain(airline, { runs: cases(200), states: [smallWorld()] })));
