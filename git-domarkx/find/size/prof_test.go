package size_test
import ("testing";"time";"os";"fmt";"strings"
"github.com/domarkx/domarkx/gitstore"
"github.com/domarkx/domarkx/gitstore/gitcmd"
"github.com/domarkx/domarkx/git-domarkx/find/size")
func TestProf(t *testing.T){
 r,err:=gitcmd.Discover(t.Context(),"/tmp/w/disk-scratch/big",nil)
 if err!=nil{t.Fatal(err)}
 s,err:=gitstore.Open(t.Context(),r)
 if err!=nil{t.Fatal(err)}
 at:=time.Now()
 rep,err:=size.Measure(t.Context(),s)
 if err!=nil{t.Fatal(err)}
 fmt.Println(time.Since(at),rep.Kinds)
 b,_:=os.ReadFile("/proc/self/status")
 for _,l:=range strings.Split(string(b),"\n"){ if strings.HasPrefix(l,"VmHWM")||strings.HasPrefix(l,"Rss"){fmt.Println(l)}}
}
