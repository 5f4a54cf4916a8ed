import { Alert, Button, Stack, Text, VisuallyHidden } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { Component, type ReactNode } from 'react';

interface GuardProps {
  /** The address of the page. A new address is shown from the start. */
  readonly address: string;
  readonly children: ReactNode;
}

interface GuardState {
  readonly error: unknown;
  readonly address: string;
}

/**
 * Keeps the frame usable when a page can't be shown, for example when its code is not loaded yet
 * and the server is gone.
 */
export class PageGuard extends Component<GuardProps, GuardState> {
  override state: GuardState = { error: undefined, address: this.props.address };

  static getDerivedStateFromError(error: unknown): Pick<GuardState, 'error'> {
    return { error };
  }

  static getDerivedStateFromProps({ address }: GuardProps, state: GuardState): GuardState | null {
    return address === state.address ? null : { error: undefined, address };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : <NotShown error={error} />;
  }
}

const TITLE = 'The page can’t be shown';

/** Only a new document asks again for code that did not load. */
function NotShown({ error }: { readonly error: unknown }) {
  const message = error instanceof Error ? error.message : String(error);
  return (
    <Alert color="red" variant="light" title={TITLE} m="md" role="alert">
      <VisuallyHidden component="h1">{TITLE}</VisuallyHidden>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          Its code did not load, or failed. Load it again when the server answers.
        </Text>
        <Text size="sm" c="dimmed" className="wraps">
          {visible(message)}
        </Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          Load again
        </Button>
      </Stack>
    </Alert>
  );
}
