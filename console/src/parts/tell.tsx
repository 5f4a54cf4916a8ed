import { Anchor } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { visibleWords } from 'assize/internal/views/visible.ts';
import { Link } from 'wouter';

/** The page of what a message is about. */
interface About {
  readonly text: string;
  readonly href: string;
}

/** Shows a short message for some seconds. It may name things of agents. */
export function tell(message: string, about?: About): void {
  notifications.show({
    message: (
      <>
        {visibleWords(message)}
        {about !== undefined && (
          <>
            {' '}
            <Anchor component={Link} href={about.href} size="sm" underline="always">
              {visibleWords(about.text)}
            </Anchor>
          </>
        )}
      </>
    ),
    closeButtonProps: { 'aria-label': 'Close' },
  });
}
