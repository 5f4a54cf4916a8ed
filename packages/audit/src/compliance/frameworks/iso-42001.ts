import {
  CHANGES,
  DELEGATED,
  IN_DOUBT,
  INCIDENTS,
  NO_AUTHORITY,
  POLICY,
  REFUSALS,
  RESPONSES,
  RULES,
} from '../measures/control.ts';
import { outside } from '../measures/measure.ts';
import {
  ASKED,
  COUNSELORS,
  DECIDED,
  EXPIRED,
  HALTED,
  IS_PERSON,
  NOT_SELF,
  OVERRIDES,
} from '../measures/oversight.ts';
import {
  CHECKPOINTED,
  RECORDED,
  SIGNED,
  TRACEABLE,
  VERIFIED,
  WITNESSED,
} from '../measures/records.ts';
import type { Framework } from './framework.ts';

/** ISO/IEC 42001:2023, the controls of Annex A that a ledger of actions supports. */
export const ISO_42001: Framework = {
  id: 'iso-42001',
  title: 'ISO/IEC 42001:2023, controls of Annex A',
  clauses: [
    {
      id: 'A.6.2.6',
      title: 'Operation and monitoring',
      asks: 'The operation of the system is monitored, its failures are handled, and its changes are controlled.',
      measures: [REFUSALS, CHANGES, IN_DOUBT, TRACEABLE],
    },
    {
      id: 'A.6.2.8',
      title: 'Event logs',
      asks: 'The system keeps logs of events, at least while it is in use.',
      measures: [RECORDED, VERIFIED, SIGNED, CHECKPOINTED, WITNESSED],
    },
    {
      id: 'A.8.4',
      title: 'Communication of incidents',
      asks: 'A plan says how users of the system learn of incidents.',
      measures: [
        INCIDENTS,
        RESPONSES,
        outside(
          'incident-plan',
          'A plan for telling users about incidents exists',
          'Attach the plan, and the messages that were sent.',
        ),
      ],
    },
    {
      id: 'A.9.2',
      title: 'Processes for responsible use',
      asks: 'Processes say how the system is used responsibly. This includes decisions by people.',
      measures: [ASKED, DECIDED, COUNSELORS, EXPIRED, NOT_SELF, OVERRIDES, IS_PERSON],
    },
    {
      id: 'A.9.4',
      title: 'Intended use',
      asks: 'The system is used for its purpose, within the limits that its documents name.',
      measures: [
        RULES,
        POLICY,
        NO_AUTHORITY,
        DELEGATED,
        HALTED,
        outside(
          'intended-use',
          'A document names the intended use',
          'Attach it, and say which rules of the domain enforce it.',
        ),
      ],
    },
  ],
};
