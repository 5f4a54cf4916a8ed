import { configuration, type GatewayState, type GatewayTool, isConfigured, type Rules } from '#domains/gateway';
import type { Hash } from '#ledger';
import { ServerError } from './errors.ts';
import type { Service } from './service.ts';

/** The principal that puts the rules of a server in force. */
const SERVER = 'assize:server';

/** A world of the gateway domain whose rules wait for the decision about a proposal. */
export interface WaitingRules {
  readonly trajectoryId: string;
  readonly by: Hash;
}

/**
 * Puts the rules of the file in force in every configured world of the gateway domain. A world that
 * has them already gets no entry, so a changed file counts from the next start on. Returns the
 * worlds that an open approval freezes.
 *
 * @throws GatewayError `bad_tool`; ServerError `rules_refused`
 */
export async function configureGateways(
  { assize, config, offices, clock }: Service,
  rules: Rules,
  tools: readonly GatewayTool[],
): Promise<WaitingRules[]> {
  const wanted = configuration(rules, tools);
  const waiting: WaitingRules[] = [];
  for (const [trajectoryId, world] of Object.entries(config.worlds)) {
    if (world.domain !== 'gateway') continue;
    const trajectory = await assize.open(trajectoryId);
    if (isConfigured(trajectory.state() as unknown as GatewayState, wanted)) continue;
    const writ = offices.forServer(SERVER, 'configure', trajectoryId, clock.now());
    // A halted world gets the rules at the first start after its resume. It judges no call.
    if (trajectory.halted !== undefined) continue;
    const ruling = await trajectory.propose({ action: 'configure', role: 'admin', args: wanted, writ } as never);
    if (ruling.ruling === 'committed') continue;
    if (ruling.ruling === 'frozen') waiting.push({ trajectoryId, by: ruling.by });
    else
      throw new ServerError(
        'rules_refused',
        `The rules ${rules.id} are not in force in ${trajectoryId}: ${ruling.detail}. Correct the rules, and start again.`,
        { evidence: { trajectory_id: trajectoryId } },
      );
  }
  return waiting;
}

/** Puts the rules in force when the approvals that freeze the worlds are decided. */
export async function configureWhenDecided(
  service: Service,
  rules: Rules,
  tools: readonly GatewayTool[],
  first: readonly WaitingRules[],
  signal: AbortSignal,
): Promise<void> {
  for (let waiting = first; waiting.length > 0; ) {
    for (const { trajectoryId, by } of waiting) {
      const trajectory = await service.assize.open(trajectoryId);
      await trajectory.approvals.awaitDecision(by, { signal });
    }
    waiting = await configureGateways(service, rules, tools);
  }
}
