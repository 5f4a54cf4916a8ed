import { Button } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { WITH_KEYS } from './list-keys.ts';
import classes from './split-view.module.css';

interface SplitProps {
  /** The heading and the filters. They stay in sight. */
  readonly head: ReactNode;
  readonly list: ReactNode;
  readonly listLabel: string;
  readonly detail: ReactNode;
  readonly detailLabel: string;
  /** Whether an item is chosen. A narrow page then shows its detail only. */
  readonly isOpen: boolean;
  readonly backLabel: string;
  readonly onBack: () => void;
}

/** A list beside the detail of its chosen item. Their keys act while one of both has the focus. */
export function SplitView(props: SplitProps) {
  const { head, list, listLabel, detail, detailLabel, isOpen, backLabel, onBack } = props;
  const listPart = useRef<HTMLElement>(null);
  const detailPart = useRef<HTMLElement>(null);
  // The page begins with the focus, and keeps it when the element that had it is gone. It takes
  // none from a field or a dialog, such as the palette of pages.
  const isShown = useRef(false);
  useEffect(() => {
    const { activeElement: at, body } = document;
    if (at === body || (!isShown.current && at?.closest('input, [role="dialog"]') === null))
      (isOpen ? detailPart : listPart).current?.focus({ preventScroll: true });
    isShown.current = true;
  }, [isOpen]);
  return (
    <div
      className={classes.page}
      data-open={isOpen || undefined}
      {...{ [WITH_KEYS]: true }}
      onKeyDownCapture={leaveField}
    >
      <section ref={listPart} tabIndex={-1} className={classes.list} aria-label={listLabel}>
        <div className={classes.head}>{head}</div>
        {list}
      </section>
      <section ref={detailPart} tabIndex={-1} className={classes.detail} aria-label={detailLabel}>
        {isOpen ? (
          <div className={classes.inner}>
            <Button
              size="compact-sm"
              variant="subtle"
              className={classes.back}
              onClick={onBack}
              mb="xs"
            >
              ← {backLabel}
            </Button>
            {detail}
          </div>
        ) : (
          detail
        )}
      </section>
    </div>
  );
}

/**
 * Escape leaves a field or a button of a form for the list or the detail around it. A field keeps
 * its text. The next Escape closes the item.
 */
function leaveField(event: KeyboardEvent<HTMLElement>): void {
  const { key, target } = event;
  if (key !== 'Escape' || !(target instanceof HTMLElement)) return;
  const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
  if (!isField && target.closest('button')?.closest('form') == null) return;
  // A choice that is open in the field closes first.
  if (target.getAttribute('aria-expanded') === 'true') return;
  event.stopPropagation();
  target.closest<HTMLElement>('section[tabindex]')?.focus({ preventScroll: true });
}
