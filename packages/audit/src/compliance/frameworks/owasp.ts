import {
  BUDGET,
  CALLS,
  CONTRADICTIONS,
  DELEGATED,
  ESCALATED_RULES,
  FACTS,
  GUARDED,
  IN_DOUBT,
  NO_AUTHORITY,
  POLICY,
  REVOKED,
  RULES,
  TOOLS_PINNED,
  UNDONE,
} from '../measures/control.ts';
import { outside } from '../measures/measure.ts';
import {
  COUNSELORS,
  DECIDED,
  DECISION_TIME,
  EXPIRED,
  HALTED,
  IS_PERSON,
  NOT_SELF,
  OVERRIDES,
  SEVERAL,
} from '../measures/oversight.ts';
import {
  CHECKPOINTED,
  RECORDED,
  SIGNED,
  TRACEABLE,
  VERIFIED,
  WITNESSED,
} from '../measures/records.ts';
import type { Clause, Framework } from './framework.ts';

const SANDBOX = outside(
  'sandbox',
  'Tools that run code are confined by the operating system',
  'Attach the configuration of the sandbox. The ledger shows the calls, not what a program did inside of one.',
);
const IDENTITY = outside(
  'identity',
  'People and agents sign in before they are named',
  'Attach the configuration of the sign-in (OIDC, tokens), and its own log.',
);

function threat(id: string, title: string, asks: string, measures: Clause['measures']): Clause {
  return { id, title, asks, measures };
}

/** The fifteen threats of OWASP's "Agentic AI: Threats and Mitigations", version 1.0. */
export const OWASP_THREATS: Framework = {
  id: 'owasp-threats',
  title: 'OWASP Agentic AI: Threats and Mitigations, T1 to T15',
  clauses: [
    threat('T1', 'Memory poisoning', 'False facts in the memory of an agent.', [
      FACTS,
      CONTRADICTIONS,
    ]),
    threat('T2', 'Tool misuse', 'An agent is led to use its tools to do harm.', [
      CALLS,
      POLICY,
      GUARDED,
    ]),
    threat('T3', 'Privilege compromise', 'An agent gets rights that it should not have.', [
      NO_AUTHORITY,
      REVOKED,
    ]),
    threat('T4', 'Resource overload', 'An agent uses up money, calls or machines.', [
      BUDGET,
      POLICY,
    ]),
    threat('T5', 'Cascading hallucination', 'An invented fact is built upon.', [
      CONTRADICTIONS,
      RULES,
      FACTS,
    ]),
    threat('T6', 'Intent breaking and goal manipulation', 'The goal of an agent is replaced.', [
      RULES,
      ESCALATED_RULES,
      POLICY,
    ]),
    threat('T7', 'Misaligned and deceptive behaviour', 'An agent evades its limits.', [
      RULES,
      DECIDED,
      HALTED,
    ]),
    threat('T8', 'Repudiation and untraceability', 'An action cannot be traced to its cause.', [
      RECORDED,
      VERIFIED,
      SIGNED,
      CHECKPOINTED,
      WITNESSED,
    ]),
    threat(
      'T9',
      'Identity spoofing and impersonation',
      'An agent or a person is passed off as another.',
      [NO_AUTHORITY, SIGNED, IDENTITY],
    ),
    threat(
      'T10',
      'Overwhelming human in the loop',
      'People get more questions than they can weigh.',
      [DECISION_TIME, EXPIRED, COUNSELORS, IS_PERSON],
    ),
    threat('T11', 'Unexpected code execution', 'An agent runs code of an attacker.', [
      CALLS,
      POLICY,
      SANDBOX,
    ]),
    threat('T12', 'Agent communication poisoning', 'Messages between agents are forged.', [
      DELEGATED,
      VERIFIED,
    ]),
    threat('T13', 'Rogue agents', 'An agent works outside of supervision.', [
      HALTED,
      REVOKED,
      NO_AUTHORITY,
    ]),
    threat(
      'T14',
      'Human attacks on multi-agent systems',
      'A person abuses the trust between agents.',
      [DELEGATED, NO_AUTHORITY, BUDGET],
    ),
    threat('T15', 'Human manipulation', 'An agent talks a person into a decision.', [
      NOT_SELF,
      SEVERAL,
      OVERRIDES,
      IS_PERSON,
    ]),
  ],
};

/** The ten risks of the "OWASP Top 10 for Agentic Applications 2026". */
export const OWASP_TOP_10: Framework = {
  id: 'owasp-top10',
  title: 'OWASP Top 10 for Agentic Applications 2026, ASI01 to ASI10',
  clauses: [
    threat('ASI01', 'Agent goal hijack', 'Content from outside replaces the goal of an agent.', [
      RULES,
      POLICY,
      GUARDED,
    ]),
    threat('ASI02', 'Tool misuse and exploitation', 'An agent uses a permitted tool to do harm.', [
      CALLS,
      POLICY,
      GUARDED,
      BUDGET,
    ]),
    threat('ASI03', 'Identity and privilege abuse', 'Rights are inherited, reused or widened.', [
      NO_AUTHORITY,
      REVOKED,
      DELEGATED,
      IDENTITY,
    ]),
    threat('ASI04', 'Agentic supply chain', 'A tool, a server or a package is not what it was.', [
      TOOLS_PINNED,
      TRACEABLE,
      outside(
        'supply-chain',
        'Packages and models are checked',
        'Attach the bill of materials and the scans.',
      ),
    ]),
    threat('ASI05', 'Unexpected code execution', 'An agent runs code of an attacker.', [
      CALLS,
      POLICY,
      SANDBOX,
    ]),
    threat('ASI06', 'Memory and context poisoning', 'False facts stay in memory or context.', [
      FACTS,
      CONTRADICTIONS,
    ]),
    threat(
      'ASI07',
      'Insecure communication between agents',
      'Messages between agents are forged or read.',
      [
        DELEGATED,
        VERIFIED,
        outside(
          'transport',
          'Connections between agents are encrypted',
          'Attach the configuration of TLS.',
        ),
      ],
    ),
    threat('ASI08', 'Cascading failures', 'One fault spreads through agents and systems.', [
      RULES,
      IN_DOUBT,
      UNDONE,
      HALTED,
    ]),
    threat('ASI09', 'Exploited trust in agents', 'A person approves what an agent should not do.', [
      DECIDED,
      NOT_SELF,
      SEVERAL,
      OVERRIDES,
      IS_PERSON,
    ]),
    threat('ASI10', 'Rogue agents', 'An agent departs from its purpose unseen.', [
      HALTED,
      REVOKED,
      NO_AUTHORITY,
      RECORDED,
    ]),
  ],
};
