import { useState } from 'react';
import { tableOf } from './table-address.ts';

/** A draft in this tab of the browser, and the table of the address under which it was edited. */
interface Draft {
  readonly text: string;
  readonly address: string | null;
}

/** The edited text of the rule table of a trajectory. */
export interface EditedRules {
  readonly text: string;
  readonly edit: (text: string) => void;
  /** Keeps the text under the address that a run has given to it. */
  readonly keep: (address: string | undefined) => void;
}

/**
 * The rule table of the address, the draft that was edited under the same address, or the example.
 * A draft stays in this tab of the browser until the tab is closed.
 */
export function useEditedRules(
  trajectory: string,
  example: string,
  address: string | null,
  isFile: boolean,
): EditedRules {
  const key = `assize:what-if:${trajectory}`;
  const [text, setText] = useState(
    () =>
      draftOf(key, address) ?? (address === null ? undefined : tableOf(address, isFile)) ?? example,
  );
  const store = (draft: Draft): void => {
    if (draft.text === example && draft.address === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
  };
  return {
    text,
    edit: (next) => {
      store({ text: next, address });
      setText(next);
    },
    keep: (next) => store({ text, address: next ?? null }),
  };
}

function draftOf(key: string, address: string | null): string | undefined {
  try {
    const draft = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Draft> | null;
    return typeof draft?.text === 'string' && draft.address === address ? draft.text : undefined;
  } catch {
    return undefined;
  }
}

/** A rule table to begin with: a person must approve one action. */
export function exampleRules(action: string): string {
  const table = {
    id: 'what-if',
    otherwise: 'allow',
    rules: [
      {
        id: 'ask',
        effect: 'needs_approval',
        actions: [action],
        because: 'A person must see this.',
      },
    ],
  };
  return JSON.stringify(table, null, 2);
}
