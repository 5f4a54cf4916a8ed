import { useEffect, useState } from 'react';
import { Redirect } from 'wouter';
import { forgetWanted, wantedPath } from '../parts/wanted-page.ts';

/** The page after a sign-in: the one that was wanted before, or what needs the person. */
export function StartPage() {
  const [path] = useState(() => wantedPath());
  useEffect(forgetWanted, []);
  return <Redirect to={path} replace />;
}
