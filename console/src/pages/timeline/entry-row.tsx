import { Link } from 'wouter';
import { titleIfCut } from '../../parts/cut-text.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { RowTime } from '../../parts/instant.tsx';
import { shortRoleText } from '../../parts/role-text.ts';
import { RulingMark } from '../../parts/ruling-mark.tsx';
import type { EntrySummary } from './entries-query.ts';
import classes from './entry-list.module.css';

interface RowProps {
  readonly seq: number;
  readonly entry: EntrySummary | undefined;
  readonly isOpen: boolean;
  readonly href: string;
}

/** One entry: its ruling, action and time, and below them the detail and the people. */
export function EntryRow({ seq, entry, isOpen, href }: RowProps) {
  return (
    <Link
      href={href}
      className={classes.row}
      data-open={isOpen || undefined}
      aria-current={isOpen ? 'true' : undefined}
    >
      <span className={classes.seq}>{seq}</span>
      {entry === undefined ? (
        <span className={classes.waiting} role="status">
          Loading…
        </span>
      ) : (
        <Content entry={entry} />
      )}
    </Link>
  );
}

function Content({ entry }: { readonly entry: EntrySummary }) {
  const { ruling, action, title, args, at, kind } = entry;
  return (
    <>
      <span className={classes.ruling}>
        <RulingMark ruling={ruling} />
      </span>
      <span className={classes.what} onPointerEnter={titleIfCut}>
        <strong className={classes.action}>
          <Words>{title ?? action ?? kind.replaceAll('_', ' ')}</Words>
        </strong>
        {title === undefined && args !== undefined && (
          <span className={classes.args}>
            <Inert>{args}</Inert>
          </span>
        )}
      </span>
      <span className={classes.when}>{at !== '' && <RowTime at={at} />}</span>
      <span className={classes.why} onPointerEnter={titleIfCut}>
        <Why entry={entry} />
      </span>
    </>
  );
}

/** The people, the rule and the detail. A rejection by a person has no rule: the person ruled. */
function Why({ entry }: { readonly entry: EntrySummary }) {
  const {
    role: name,
    role_params: params,
    counselor,
    invariant_id,
    detail,
    reason,
    overrides = [],
  } = entry;
  const role = name === undefined ? undefined : shortRoleText({ name, params });
  const by = role === undefined ? '' : `as ${role}, `;
  if (reason === 'counselor_rejected' && counselor !== undefined)
    return <Inert>{`${by}rejected by ${counselor}: ${detail ?? ''}`}</Inert>;
  const overridden = new Set(
    overrides.flatMap(({ violations }) => violations.map((one) => one.invariant_id)),
  );
  return (
    <>
      {role !== undefined && <Inert>{`as ${role}`}</Inert>}
      {counselor !== undefined && <Inert>{`, decided by ${counselor}`}</Inert>}
      {overrides.length > 0 && (
        <>
          {' · '}
          <strong className={classes.override}>
            <Inert>{`overrides ${[...overridden].join(', ')}`}</Inert>
          </strong>
        </>
      )}
      {role !== undefined && (invariant_id ?? detail) !== undefined && ' · '}
      {invariant_id !== undefined && (
        <span className={classes.rule}>
          <Inert>{invariant_id}</Inert>
        </span>
      )}
      <Inert>{detail ?? ''}</Inert>
    </>
  );
}
