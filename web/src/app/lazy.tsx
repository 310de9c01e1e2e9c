import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A component whose code is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => JSX.Element | null {
  let found: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Shown, show] = useState<ComponentType<P> | undefined>(() => found);
    const [error, setError] = useState<string>();
    useEffect(() => {
      if (Shown) return;
      load()
        .then((component) => {
          found = component;
          show(() => component);
        })
        .catch(() => setError('This view could not be loaded. Reload the page.'));
    }, []);
    if (error) return <p class="banner">{error}</p>;
    return Shown ? <Shown {...props} /> : null;
  };
}
