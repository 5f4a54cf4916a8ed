import { isolatesIn, visible } from 'assize/internal/views/visible.ts';
import { Fragment } from 'react';

/** Words by `shownOf`: each isolate in them stays, so that a copied or a cut text has it too. */
export function Words({ children }: { readonly children: string }) {
  return (
    <bdi className="wraps">
      {isolatesIn(children).map((part, n) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
        n % 2 === 1 ? part : <Inert key={n}>{part}</Inert>,
      )}
    </bdi>
  );
}

/** The characters of a text that a reader would not see, apart from line breaks. */
const UNSEEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u;

/**
 * Text of an agent. Characters that are invisible, change the direction of reading or move a
 * cursor are shown as their codes. React writes the text, so it is never markup.
 */
export function Inert({ children }: { readonly children: string }) {
  const pieces = children.split(UNSEEN);
  if (pieces.length === 1) return <bdi className="wraps">{children}</bdi>;
  return (
    <bdi className="wraps">
      {pieces.map((piece, n) =>
        n % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other name
          <span key={n} className="unseen" title="a character that is not visible">
            {visible(piece)}
          </span>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other name
          <Fragment key={n}>{piece}</Fragment>
        ),
      )}
    </bdi>
  );
}
