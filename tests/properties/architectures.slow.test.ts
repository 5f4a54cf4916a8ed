/**
 * Shipped domains under microservices and the kernel. The kernel commits no state that breaks a
 * rule, and refuses no proposal that breaks none.
 */

import { expect, test } from 'vitest';
import { disclosure } from '#domains/disclosure';
import { gateway } from '#domains/gateway';
import { incident } from '#domains/incident';
import { udt } from '#domains/udt';
import type { Domain } from '#kernel';
import { airline } from '../../examples/domains/airline/index.ts';
import { smallWorld } from '../../examples/domains/airline/testing/small-world.ts';
import { smallPortfolio } from '../../examples/domains/disclosure/testing/small-portfolio.ts';
import { moderation } from '../../examples/domains/moderation/index.ts';
import { halfAYear } from '../../examples/domains/moderation/testing/half-a-year.ts';
import { retail } from '../../examples/domains/retail/index.ts';
import { smallWorld as smallShop } from '../../examples/domains/retail/testing/small-world.ts';
import { verification } from '../../examples/domains/verification/index.ts';
import { compareArchitectures } from '../../labs/architectures/index.ts';
import { busyGateway } from '../support/domains/gateway/busy-gateway.ts';
import { approvedIncident } from '../support/domains/incident/approved-incident.ts';
import { someOf } from '../support/some-of.ts';

const SHIPPED: readonly [Domain<any, any, any>, (() => unknown)?][] = [
  [udt],
  [disclosure, smallPortfolio],
  [gateway(), busyGateway],
  [incident, () => [approvedIncident()]],
  [airline, () => [smallWorld()]],
  [retail, () => [smallShop()]],
  [moderation, async () => [await halfAYear()]],
  [verification],
];

test.each(someOf(SHIPPED.map(([domain, states]) => [domain.name, domain, states] as const)))(
  '%s',
  async (_, domain, given) => {
    const states = (await given?.()) as readonly unknown[] | undefined;
    const found = await compareArchitectures(domain, {
      ...{ schedules: 60, population: 3, seed: 2 },
      ...(states !== undefined && { states }),
    });
    const [, kernel] = found.architectures;
    expect(kernel).toMatchObject({
      architecture: 'kernel',
      broken_schedules: 0,
      violations: [],
      refused_valid: 0,
    });
    expect(kernel?.committed).toBeGreaterThan(0);
  },
);
