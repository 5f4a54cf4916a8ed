import { Text } from '@mantine/core';
import type { components } from '../api/openapi.d.ts';
import { isUnanswered } from '../api/problem.ts';
import { Inert } from './inert-text.tsx';
import classes from './judgement.module.css';

export type Judgement = components['schemas']['Judgement'];

interface Told {
  readonly tone: 'good' | 'wait' | 'warn' | 'bad';
  readonly sign: string;
  readonly word: string;
  readonly detail?: string | undefined;
}

interface JudgementProps {
  readonly judged: Judgement | undefined;
  /** Whether a newer input is being judged. */
  readonly isOld: boolean;
  /** Whether the input is not JSON, so that it is not judged. */
  readonly isUnreadable: boolean;
  /** The error of the request itself. */
  readonly error: Error | null;
  /** The word for an entry that would be committed. */
  readonly committed: string;
}

/** The ruling that would be given, in one line with its rule and message. It is read aloud. */
export function JudgementLine({ judged, isOld, isUnreadable, error, committed }: JudgementProps) {
  return (
    <div className={classes.line} role="status" aria-label="Judgement">
      {isUnreadable ? (
        <Line tone="bad" sign="!" word="Not judged" detail="this is not JSON" />
      ) : error !== null ? (
        <Line
          tone="bad"
          sign="!"
          word="Not judged"
          detail={isUnanswered(error) ? 'The server does not answer.' : error.message}
        />
      ) : judged === undefined ? (
        <Text size="sm" c="dimmed">
          Judging…
        </Text>
      ) : (
        <Line {...toldOf(judged, committed)} isOld={isOld} />
      )}
    </div>
  );
}

function Line({ tone, sign, word, detail, isOld = false }: Told & { readonly isOld?: boolean }) {
  return (
    <Text size="sm" component="div" className={classes.words} data-tone={tone}>
      <span className={classes.sign} data-tone={tone} aria-hidden="true">
        {isOld ? '…' : sign}
      </span>
      <span>
        <strong>
          <Inert>{word}</Inert>
        </strong>
        {detail !== undefined && detail !== '' && (
          <>
            : <Inert>{detail}</Inert>
          </>
        )}
      </span>
    </Text>
  );
}

function toldOf(judged: Judgement, committed: string): Told {
  switch (judged.ruling) {
    case 'committed': {
      const { overridden = [] } = judged;
      if (overridden.length === 0) return { tone: 'good', sign: '✓', word: committed };
      const rules = overridden.map(({ invariant_id }) => invariant_id).join(', ');
      const [noun, them] = overridden.length === 1 ? ['rule', 'it'] : ['rules', 'them'];
      return {
        tone: 'warn',
        sign: '!',
        word: `${committed} against ${noun} ${rules}`,
        detail: `you override ${them}`,
      };
    }
    case 'escalated': {
      const by = judged.invariant_id === undefined ? '' : ` by rule ${judged.invariant_id}`;
      return {
        tone: 'wait',
        sign: '?',
        word: `Would wait for ${judged.channel}${by}`,
        detail: judged.detail,
      };
    }
    case 'rejected': {
      const by =
        judged.invariant_id === undefined ? judged.reason : `by rule ${judged.invariant_id}`;
      return {
        tone: 'bad',
        sign: '✕',
        word: `Would be rejected ${wordsOf(by)}`,
        detail: judged.detail,
      };
    }
    case 'frozen':
      return {
        tone: 'wait',
        sign: '?',
        word: 'Would wait for an open approval',
        detail: judged.detail,
      };
    case 'refused':
      return refusal(judged);
  }
}

function refusal({
  code,
  detail,
  broken,
  findings,
}: Extract<Judgement, { ruling: 'refused' }>): Told {
  const count = findings?.length ?? 0;
  if (count > 0)
    return {
      tone: 'bad',
      sign: '✕',
      word: 'The arguments do not fit',
      detail: findings
        ?.map(({ pointer, message }) => `${pointer === '' ? 'the whole' : pointer}: ${message}`)
        .join('; '),
    };
  if (broken !== undefined && broken.length > 0) {
    const rules = broken.map(({ invariant_id }) => invariant_id).join(', ');
    const word = `Breaks ${broken.length === 1 ? 'rule' : 'rules'} ${rules}`;
    // A table has the details of the rules.
    return {
      tone: 'bad',
      sign: '✕',
      word,
      detail: code === 'final_rule' ? 'no approval overrides it' : '',
    };
  }
  if (code === 'unauthorised_counselor')
    return { tone: 'wait', sign: '?', word: 'It is for other approvers', detail };
  return { tone: 'bad', sign: '✕', word: 'Would be refused', detail };
}

function wordsOf(reason: string): string {
  return reason.startsWith('by rule') ? reason : `(${reason.replaceAll('_', ' ')})`;
}
