import type { Evidence } from '../evidence/gather.ts';
import {
  type Finding,
  happened,
  type Measure,
  namesText,
  number,
  plural,
  tallyOf,
} from './measure.ts';
import { CHECK_STORE, COMPARE_CHECKPOINTS, LIST_ENTRIES, SHOW_ENTRY, VERIFY } from './proofs.ts';

export const RECORDED: Measure = {
  id: 'records.entries',
  title: 'Each ruling, decision and outcome is an entry, written by the runtime itself',
  proof: LIST_ENTRIES,
  find: (evidence) => {
    const { active } = evidence.collected;
    const { count, examples } = tallyOf(evidence, 'entries');
    const figure = `${plural(count, 'entry', 'entries')} of ${plural(active.size, 'trajectory', 'trajectories')}`;
    if (count > 0) return { status: 'shown', figure, examples };
    return {
      status: 'gap',
      figure,
      remedy: 'Choose a period and trajectories in which the system was used.',
    };
  },
};

export const VERIFIED: Measure = {
  id: 'records.verified',
  title: 'Every entry in scope is unchanged and follows from the one before it',
  proof: VERIFY,
  find: (evidence) => {
    const { faults, size } = evidence;
    const [first] = faults;
    const { count } = tallyOf(evidence, 'entries');
    if (first === undefined && size > 0)
      return {
        status: 'shown',
        figure: `${plural(count, 'entry in scope verifies', 'entries in scope verify')}`,
      };
    if (first === undefined)
      return { status: 'gap', figure: 'the log is empty', remedy: 'Record entries first.' };
    const place =
      first.trajectory_id === undefined ? '' : `${first.trajectory_id} seq ${first.seq}: `;
    return {
      status: 'gap',
      figure: `${plural(faults.length, 'fault', 'faults')}. The first: ${place}${first.detail} (${first.code})`,
      remedy:
        'List all faults with assize verify --database, and restore the entries from a backup. Treat it as an incident.',
    };
  },
};

export const SIGNED: Measure = {
  id: 'records.signed',
  title: 'The key of the runtime signs each entry',
  proof: VERIFY,
  find: (evidence) => {
    const signed = tallyOf(evidence, 'signed');
    const unsigned = tallyOf(evidence, 'unsigned');
    const total = signed.count + unsigned.count;
    const figure = `${number(signed.count)} of ${plural(total, 'entry', 'entries')} signed`;
    if (total === 0) return { status: 'none', figure };
    if (unsigned.count === 0) return { status: 'shown', figure, examples: signed.examples };
    return {
      status: 'gap',
      figure,
      examples: unsigned.examples,
      remedy:
        'Give the runtime a signer (--signer, or the root key of the config), and sign existing trajectories from now on with assize keys change.',
    };
  },
};

export const CHECKPOINTED: Measure = {
  id: 'records.checkpoint',
  title:
    'A signed checkpoint covers every entry of the period, so the removal of the last ones would show',
  proof: COMPARE_CHECKPOINTS,
  find: ({ checkpoint, collected }) => {
    const remedy =
      'Sign one with assize checkpoint, and keep it where the operator of the store cannot change it.';
    if (checkpoint === undefined)
      return { status: 'gap', figure: 'no verified checkpoint', remedy };
    const { size, origin } = checkpoint;
    const figure = `the checkpoint of ${origin} covers the first ${plural(size, 'entry', 'entries')} of the log`;
    if (size >= collected.end) return { status: 'shown', figure };
    return {
      status: 'gap',
      figure: `${figure}, and the period ends at position ${number(collected.end)}`,
      remedy,
    };
  },
};

export const WITNESSED: Measure = {
  id: 'records.witness',
  title: 'A witness outside of the operator cosigned the checkpoint',
  proof: COMPARE_CHECKPOINTS,
  find: ({ checkpoint }): Finding => {
    const cosigned = checkpoint?.cosigned ?? [];
    const names = cosigned
      .map(({ name, at }) => `${name}${at === undefined ? '' : ` at ${at}`}`)
      .join(', ');
    if (cosigned.length > 0) return { status: 'shown', figure: `cosigned by ${names}` };
    return {
      status: 'gap',
      figure: 'no cosignature of a named witness',
      remedy:
        'Run assize witness with another operator, sign with assize checkpoint --witness URL=KEY, and name its key to the report.',
    };
  },
};

export const TRACEABLE: Measure = {
  id: 'records.beginnings',
  title: 'The version of the rules in force is known for each trajectory',
  proof: SHOW_ENTRY,
  find: (evidence) => {
    const { domains, active } = evidence.collected;
    if (active.size === 0) return { status: 'none', figure: 'no trajectory in the period' };
    const names = [...domains].sort();
    return {
      status: 'shown',
      figure: `${plural(names.length, 'version', 'versions')}: ${namesText(names)}`,
    };
  },
};

/** Months for which providers and deployers keep logs at least (Articles 19 and 26). */
const KEPT_MONTHS = 6;

export const RETAINED: Measure = {
  id: 'records.retained',
  title: 'The log and its archive reach back at least six months',
  proof: CHECK_STORE,
  find: retained,
};

function retained({ collected: { first, last }, asOf, faults }: Evidence): Finding {
  if (first === undefined || last === undefined || asOf === undefined)
    return { status: 'gap', figure: 'no entry', remedy: 'Record entries first.' };
  const figure = `from ${first.at} to ${last.at}`;
  const examples = [first, last];
  if (faults.length > 0)
    return {
      status: 'gap',
      figure,
      examples,
      remedy: 'Restore the entries at fault: see the verification.',
    };
  if (monthsLater(first.at, KEPT_MONTHS) <= asOf) return { status: 'shown', figure, examples };
  return {
    status: 'gap',
    figure: `${figure}: younger than six months`,
    examples,
    remedy:
      'Retention cannot be shown yet. Keep the store and its archive, and make the report again later.',
  };
}

/** The same day of a later month; where that month is shorter, a day of the month after it. */
function monthsLater(at: string, months: number): string {
  const date = new Date(`${at.slice(0, 23)}Z`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return `${date.toISOString().slice(0, 23)}${at.slice(23)}`;
}

export const ERASED: Measure = {
  id: 'records.erasures',
  title: 'Values are erased by an entry only, and the entry stays',
  proof: VERIFY,
  find: (evidence) => happened(tallyOf(evidence, 'erasures'), ['erasure', 'erasures']),
};
