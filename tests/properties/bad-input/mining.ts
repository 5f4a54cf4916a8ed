import { readRules } from '#domains/gateway';
import * as mining from '#mining';
import { backtestRules } from '#replay';
import { desk } from '../../support/domains/gateway/desk.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, PORT, takes } from './table.ts';

const RULES = 'id: team\ndefault: allow\ntools: { bank/pay: { class: irreversible } }\n';
const rule = (): object => ({
  kind: 'bound',
  tool: 'bank/pay',
  path: '/cents',
  of: 'value',
  max: 50,
});
const call = (cents: number): object => ({
  tool: 'bank/pay',
  args: { cents },
  ruling: 'committed',
  principal: 'ada',
});
const runs = (): object[] => [
  { id: 'one', calls: [call(5), call(60)] },
  { id: 'two', calls: [call(7)] },
];
const written = (): object => ({
  list: 'rules',
  value: { id: 'mined', deny: 'bank/pay' },
  isExact: true,
});

/** A gateway with two calls. */
const onStore = (
  use: (store: any, ...args: any[]) => unknown,
  args: () => readonly unknown[],
): Case => ({
  trusted: { store: PORT },
  make: async () => {
    const { store, call: ask, trajectory } = await desk(RULES);
    await ask('ada', 'bank/pay', { cents: 5 });
    await ask('ada', 'bank/pay', { cents: 60 });
    return {
      args: args(),
      call: (...given) => use(store, ...given),
      watch: async () => JSON.stringify([await store.trajectories(), trajectory.head]),
    };
  },
});

export const MINING: Readonly<Record<string, Case | Exempt>> = {
  mine: takes(mining.mine as never, () => [
    runs(),
    { minSupport: 1, exceptions: 0.1, chance: 0.5, kinds: ['bound'] },
  ]),
  judgeRule: takes(mining.judgeRule as never, () => [rule(), runs()]),
  gatewayRule: takes(mining.gatewayRule as never, () => [
    { id: 'mined', rule: rule() },
    [{ name: 'bank/pay', reads: ['/path'] }],
    { effect: 'deny' },
  ]),
  domainCode: takes(mining.domainCode as never, () => [
    [{ id: 'mined', rule: rule() }],
    { effect: 'deny' },
  ]),
  rulesText: takes(mining.rulesText as never, () => [[written()]]),
  withRules: takes(mining.withRules as never, () => [RULES, [written()], 'assize.yaml']),
  readRuns: onStore(
    (store, ...args: [any, any]) => mining.readRuns(store, ...args),
    () => [['desk'], {}],
  ),
  ruleLine: exempt(MADE),
  WRITTEN: exempt('checks the rules of the functions above'),
  mineStore: onStore(
    (store, ...args: [any]) => mining.mineStore(store, ...args),
    () => [
      {
        trajectoryIds: ['desk'],
        minSupport: 1,
        chance: 0.5,
        backtest: backtestRules,
        backtested: ['bound-1'],
        effect: 'deny',
      },
    ],
  ),
};

export const BACKTEST_RULES: Case = {
  ...onStore(
    (store, ...args: [any, any]) => backtestRules(store, ...args),
    () => [[written()], { trajectoryIds: ['desk'], rules: readRules(RULES).rules }],
  ),
  trusted: { '1.rules': MADE },
};
