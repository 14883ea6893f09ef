#include "tools/screen.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstring>

namespace octep::tools {

screen screen_of(std::FILE* out) {
  screen s;
  if (isatty(fileno(out)) == 0) return s;
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0) s.width = std::clamp<usize>(size.ws_col, screen::least, screen::most);
  s.utf8 = std::setlocale(LC_CTYPE, "") != nullptr && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  return s;
}

}  // namespace octep::tools
