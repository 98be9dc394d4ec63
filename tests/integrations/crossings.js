() => {
  // How often lines between nodes of AMRs on a page are drawn again, and cross boxes or roles that are not theirs
  const between = (at, start, size, margin) => at > start + margin && at < start + size - margin;
  const inside = ({ x, y }, box) => between(x, box.x, box.width, 1) && between(y, box.y, box.height, 2);
  const crosses = (path, part) => {
    const box = part.getBBox(), length = path.getTotalLength();
    for (let at = 4; at < length - 4; at += 2) if (inside(path.getPointAtLength(at), box)) return true;
    return false;
  };
  const count = (paths, parts, own) => paths.flatMap((path, i) =>
    parts.filter((part) => part !== own[i] && crosses(path, part))).length;
  const found = { again: 0, crossings: 0 };
  for (const picture of document.querySelectorAll("article svg")) {
    const [boxes, roles, own, again] = [".box", ".role", ".againrole", ".again"].map(
      (one) => [...picture.querySelectorAll(one)]);
    found.again += again.length;
    found.crossings += count(again, boxes, []) + count(again, roles, own);
  }
  return found;
}
