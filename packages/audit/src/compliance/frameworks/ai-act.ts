import { CHANGES, GUARDED, IN_DOUBT, INCIDENTS, REFUSALS, RESPONSES } from '../measures/control.ts';
import { outside } from '../measures/measure.ts';
import {
  AMENDED,
  ASKED,
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
  ERASED,
  RECORDED,
  RETAINED,
  SIGNED,
  TRACEABLE,
  VERIFIED,
  WITNESSED,
} from '../measures/records.ts';
import type { Framework } from './framework.ts';

/** Regulation (EU) 2024/1689: the articles about which a ledger of actions has evidence. */
export const AI_ACT: Framework = {
  id: 'eu-ai-act',
  title: 'EU AI Act (Regulation (EU) 2024/1689), Articles 12, 14, 19 and 26',
  clauses: [
    {
      id: 'Art. 12(1)',
      title: 'Record-keeping',
      asks: 'The system itself records events over its whole lifetime.',
      measures: [RECORDED, VERIFIED, SIGNED, CHECKPOINTED, WITNESSED],
    },
    {
      id: 'Art. 12(2)(a)',
      title: 'Traceability of risks and substantial changes',
      asks: 'The records show situations of risk, and changes of the system.',
      measures: [TRACEABLE, CHANGES, REFUSALS, INCIDENTS],
    },
    {
      id: 'Art. 12(2)(b), (c)',
      title: 'Records for monitoring',
      asks: 'The records serve the monitoring after the sale, and the monitoring by the deployer.',
      measures: [
        RECORDED,
        IN_DOUBT,
        outside(
          'monitoring-plan',
          'A plan says how the records are used',
          'Attach the post-market monitoring plan of the provider.',
        ),
      ],
    },
    {
      id: 'Art. 14(4)(a)',
      title: 'Oversight: understand and monitor',
      asks: 'The people in charge understand the system, and notice when it fails.',
      measures: [
        ASKED,
        DECISION_TIME,
        outside(
          'instructions',
          'The people in charge were instructed',
          'Attach the instructions for use and records of training.',
        ),
      ],
    },
    {
      id: 'Art. 14(4)(b), (c)',
      title: 'Oversight: no blind trust',
      asks: 'People weigh a result, and do not follow it by habit.',
      measures: [DECIDED, AMENDED, NOT_SELF, IS_PERSON],
    },
    {
      id: 'Art. 14(4)(d)',
      title: 'Oversight: decide otherwise',
      asks: 'A person can disregard, override or reverse a result.',
      measures: [DECIDED, OVERRIDES, EXPIRED, IS_PERSON],
    },
    {
      id: 'Art. 14(4)(e)',
      title: 'Oversight: stop',
      asks: 'A person can interrupt the system safely.',
      measures: [HALTED, GUARDED, IS_PERSON],
    },
    {
      id: 'Art. 14(5)',
      title: 'Oversight by two people',
      asks: 'For remote biometric identification, two people confirm a result.',
      measures: [SEVERAL, IS_PERSON],
    },
    {
      id: 'Art. 19(1)',
      title: 'Logs kept by the provider',
      asks: 'The provider keeps the logs under its control, for at least six months.',
      measures: [RETAINED, VERIFIED, CHECKPOINTED, ERASED],
    },
    {
      id: 'Art. 26(1)',
      title: 'Use as instructed',
      asks: 'The deployer uses the system as its instructions say.',
      measures: [
        TRACEABLE,
        REFUSALS,
        outside(
          'use',
          'The use follows the instructions of the provider',
          'Attach the instructions, and say how they became rules.',
        ),
      ],
    },
    {
      id: 'Art. 26(2)',
      title: 'Oversight assigned',
      asks: 'The deployer assigns oversight to people with competence, training and authority.',
      measures: [
        COUNSELORS,
        NOT_SELF,
        IS_PERSON,
        outside(
          'competence',
          'The people have competence and training',
          'Attach records of training and the assignment of the role.',
        ),
      ],
    },
    {
      id: 'Art. 26(5)',
      title: 'Monitoring, suspension, incidents',
      asks: 'The deployer monitors the system, stops it in case of risk, and informs others of incidents.',
      measures: [
        HALTED,
        INCIDENTS,
        RESPONSES,
        IN_DOUBT,
        outside(
          'informed',
          'Provider, distributor and authority were informed',
          'Attach the messages about serious incidents.',
        ),
      ],
    },
    {
      id: 'Art. 26(6)',
      title: 'Logs kept by the deployer',
      asks: 'The deployer keeps the logs under its control, for at least six months.',
      measures: [RETAINED, VERIFIED, CHECKPOINTED, ERASED],
    },
  ],
};
