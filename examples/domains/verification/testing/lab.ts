import { createHash } from 'node:crypto';
import type { Domain } from 'assize';
import { Cast, Stage, type Whose, whose } from '../../../../tests/support/ledger/domain-stage.ts';
import {
  type VerificationActions,
  type VerificationState,
  verification,
  verificationInitial,
} from '../index.ts';
import type { Finding } from '../schema.ts';

export { dayAt } from '../../../../tests/support/ledger/domain-stage.ts';

export interface Whom {
  readonly finding?: string;
  readonly analyser?: string;
}

/** Stands for a file by its content. */
export function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Ada takes two findings at a time, Ben one. */
export const QUEUES = { ada: 2, ben: 1 };

/** A laboratory on a real runtime. The default is the finding f1, found by the analyser Fuzz. */
export class Lab extends Cast<VerificationActions, VerificationState, Whom> {
  static async open(
    domain: Domain = verification,
    initial: VerificationState = verificationInitial(QUEUES),
  ): Promise<Lab> {
    return new Lab(await Stage.open(domain, initial));
  }

  protected roleOf(action: keyof VerificationActions, whom: Whom): Whose {
    return roleOf(action, whom);
  }

  /** A finding with one submission. */
  async submitted(finding = 'f1'): Promise<void> {
    const whom = { finding };
    await this.done('open_finding', {}, whom);
    const candidate = { component: 'parser', title: 'out of bounds', fingerprint: hashOf(finding) };
    await this.done('submit', { submission: 's1', ...candidate }, whom);
  }

  /** The same, reproduced and rated. */
  async reproduced(finding = 'f1'): Promise<void> {
    const whom = { finding };
    await this.submitted(finding);
    await this.done('attach_evidence', { hash: hashOf('trace'), kind: 'trace' }, whom);
    const attempt = {
      attempt: 'r1',
      environment: 'linux',
      reproduced: true,
      evidence: hashOf('trace'),
    };
    await this.done('reproduce', attempt, whom);
    await this.done('rate', { rating: 'high', level: 'high', rationale: 'remote' }, whom);
  }

  /** The same, assigned to Ada. */
  async assigned(finding = 'f1', expert = 'ada'): Promise<void> {
    await this.reproduced(finding);
    await this.done('assign', { assignment: 'a1', expert }, { finding });
  }

  /** The same, verified by Ada. */
  async verified(finding = 'f1'): Promise<void> {
    await this.assigned(finding);
    await this.approved(
      'judge',
      { verdict: 'v1', genuine: true, reason: 'it crashes', rating: 'high' },
      'expert:ada',
      {
        finding,
      },
    );
  }

  finding(name = 'f1'): Finding {
    const finding = this.state.findings[name];
    if (finding === undefined) throw new Error(`there is no record of ${name}`);
    return finding;
  }
}

export function roleOf(action: keyof VerificationActions, whom: Whom = {}): Whose {
  return whose(verification, action, { finding: 'f1', analyser: 'fuzz', ...whom });
}
