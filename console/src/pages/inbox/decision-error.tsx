import { Alert } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { isUnanswered, NotSentError } from '../../api/problem.ts';
import { useLive } from '../../app/live.tsx';

interface ErrorProps {
  readonly error: Error | null;
  readonly forget: () => void;
}

/** A decision that failed. One without an answer is forgotten when the connection is back. */
export function DecisionError({ error, forget }: ErrorProps) {
  const { isConnected } = useLive();
  const wasConnected = useRef(isConnected);
  useEffect(() => {
    const isBack = isConnected && !wasConnected.current;
    wasConnected.current = isConnected;
    if (isBack && (isUnanswered(error) || error instanceof NotSentError)) forget();
  }, [isConnected, error, forget]);
  if (error === null) return null;
  return (
    <Alert color="red" mt="xs" role="alert">
      {isUnanswered(error)
        ? 'The server does not answer. Your decision was not confirmed; press again, it counts once.'
        : error.message}
    </Alert>
  );
}
